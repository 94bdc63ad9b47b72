-- Tells the series: rows of the steps between two moments, as many as one script may; with the first of them what was added
-- and is in no step yet.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  letter  'm' for minutes, 'h' for hours
-- ARGV[2]  from    a moment, or '' for as many steps as are shown
-- ARGV[3]  to      a moment, or '' for now
-- ARGV[4]  queue   of this queue alone, or ''
-- ARGV[5]  user    of this user alone, or ''
-- ARGV[6]  start   the step to go on with, or ''
-- Returns  now, the first and the last step, the step to go on with or -1, what queues had counted when some were taken in last,
--          what was added since; then each step with its rows
-- Cost     O(steps + rows), within LIMIT.scriptUnits and scriptBytes

F.readAll()
local letter, from, to, queue, user, start = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local ms, keptMs, shown = 60000, LIMIT.seriesMinutesMs, LIMIT.seriesMinutesShown
if letter == 'h' then ms, keptMs, shown = 3600000, LIMIT.seriesHoursMs, LIMIT.seriesHoursShown end

-- `stepsBetween` of src/domain/series/series-steps.ts.
local newest = math.floor(now / ms)
local last = to == '' and newest or math.min(newest, math.ceil(to / ms) - 1)
local first = math.max(newest - keptMs / ms + 1, from == '' and last - shown + 1 or math.floor(from / ms))

local function isAsked(field)
  local ofQueue, ofUser = string.match(field, '^u:([^:]*):(.*)$')
  ofQueue = ofQueue or string.match(field, '^q:(.*)$')
  if queue ~= '' and ofQueue ~= queue then return false end
  return user == '' or ofUser == user
end

local looked, added, changing = {}, {}, {}
if start == '' then
  added = redis.call('LRANGE', K.seriesNew(), 0, -1)
  looked = F.lookedBefore(added)
end
-- Whose row is to be added to is decided by all rows of the step.
for _, entry in ipairs(added) do changing[math.floor((tonumber(string.match(entry, '^%d+')) or 0) / ms)] = true end

local at_, reply = start == '' and first or tonumber(start), { now, first, last, -1, looked, added }
while at_ <= last do
  if F.isSpent() then
    reply[4] = at_
    break
  end
  local got, rows, bytes = redis.call('HGETALL', K.series(letter .. string.format('%.0f', at_))), { at_ }, 0
  for i = 1, #got, 2 do
    if changing[at_] or isAsked(got[i]) then
      rows[#rows + 1], rows[#rows + 2] = got[i], got[i + 1]
      bytes = bytes + #got[i] + #got[i + 1]
    end
  end
  if #rows > 1 then reply[#reply + 1] = rows end
  F.spend(1 + math.floor(#got / 16), bytes)
  at_ = at_ + 1
end
return reply
