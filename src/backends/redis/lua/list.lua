-- Lists the tasks of a state in the order of its index; queued ones by the place in their line.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  state   of the tasks
-- ARGV[2]  queue   or ''
-- ARGV[3]  user    or ''; needed for 'queued'
-- ARGV[4]  name    or ''
-- ARGV[5]  after   place of the last row of the page before, as JSON, or ''
-- ARGV[6]  limit   most rows to tell
-- Returns  the place to go on from or '', then five texts for each task as in lib/record.lua
-- Cost     O(rows looked at, at most 500)
-- @include lib/state.lua
-- @include lib/read.lua
-- @include lib/record.lua
-- @include lib/rank.lua

local state, queue, user, name = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local after, limit = ARGV[5], tonumber(ARGV[6])
local SCAN = 500

-- The sorted sets that hold the state, one behind the other.
local function sources()
  if state ~= 'queued' then return { K.state(state) } end
  local queues, keys = { queue }, {}
  if queue == '' then
    queues = redis.call('SMEMBERS', K.queues())
    table.sort(queues, F.before)
  end
  for _, each in ipairs(queues) do
    keys[#keys + 1] = K.critical(K.lane(each), user)
    keys[#keys + 1] = K.normal(K.lane(each), user)
  end
  return keys
end

local function matches(t)
  F.fixed(t)
  return (queue == '' or t.queue == queue) and (user == '' or t.user == user)
    and (name == '' or t.name == name)
end

-- A place is { key, score, id }.
local place = after ~= '' and cjson.decode(after) or nil
local reply, found, looked, last = { '' }, 0, 0, nil
local passed = place ~= nil
for _, key in ipairs(sources()) do
  local rank = 0
  if passed and key == place[1] then
    rank, passed = F.rankBehind(key, place[2], place[3]), false
  elseif passed then
    rank = -1
  end
  local rows = rank >= 0
    and redis.call('ZRANGE', key, rank, rank + SCAN - looked, 'WITHSCORES') or {}
  for i = 1, #rows, 2 do
    if last and (found == limit or looked >= SCAN) then
      reply[1] = cjson.encode(last)
      return reply
    end
    looked = looked + 1
    last = { key, rows[i + 1], rows[i] }
    local t = F.taskOf(rows[i])
    if t and matches(t) then
      found = found + 1
      F.addRecord(reply, t)
    end
  end
end
return reply
