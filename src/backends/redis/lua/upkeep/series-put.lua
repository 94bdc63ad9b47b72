-- Puts rows of the series, into which was taken what stood for itself.
--
-- KEYS[1]  clock     hash
-- ARGV[1]  version   as series-take gave it
-- ARGV[2]  taken     how many of the oldest go
-- ARGV[3]  looked    how many texts follow: queues, and what they had counted, by turns
-- ARGV[4..]  steps   after these, of each step: name, how long it is kept, how many texts follow: names of rows and rows by
--                    turns, '' for one that goes
-- Returns  1, or 0 when another has taken them in
-- Cost     O(rows)

F.readAll()
local version, taken, looked = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local totals = K.seriesTotals()
if (redis.call('HGET', totals, '@') or '0') ~= version then return F.unchanged(0) end
redis.call('HINCRBY', totals, '@', 1)
for i = 4, 3 + looked, 2 do redis.call('HSET', totals, ARGV[i], ARGV[i + 1]) end
redis.call('LTRIM', K.seriesNew(), taken, -1)
local at_ = 4 + looked
while at_ <= #ARGV do
  local key, keptMs, texts = K.series(ARGV[at_]), ARGV[at_ + 1], tonumber(ARGV[at_ + 2])
  local isNew = redis.call('EXISTS', key) == 0
  for i = at_ + 3, at_ + 2 + texts, 2 do
    if ARGV[i + 1] == '' then
      redis.call('HDEL', key, ARGV[i])
    else
      redis.call('HSET', key, ARGV[i], ARGV[i + 1])
    end
  end
  if isNew then redis.call('PEXPIRE', key, keptMs) end
  at_ = at_ + 3 + texts
end
return F.unchanged(1)
