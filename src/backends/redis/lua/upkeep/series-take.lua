-- Gives what was added to the series and is in no step yet, the oldest first, as much as one script may, with all that it is to
-- be added to.
--
-- KEYS[1]  clock   hash
-- Returns  how often some were taken in, what queues had counted then, what was added; then each minute and hour of these: its
--          name and its rows
-- Cost     O(rows), within LIMIT.scriptBytes

F.readAll()
local version = redis.call('HGET', K.seriesTotals(), '@') or '0'
local added, steps, reply = {}, {}, { version }
for _, entry in ipairs(redis.call('LRANGE', K.seriesNew(), 0, LIMIT.seriesTake - 1)) do
  if F.isSpent() then break end
  added[#added + 1] = entry
  local at_ = tonumber(string.match(entry, '^%d+')) or 0
  steps['m' .. string.format('%.0f', math.floor(at_ / 60000))] = true
  steps['h' .. string.format('%.0f', math.floor(at_ / 3600000))] = true
  F.spend(1, #entry)
end
reply[2], reply[3] = F.lookedBefore(added), added
for step in pairs(steps) do reply[#reply + 1] = { step, redis.call('HGETALL', K.series(step)) } end
return reply
