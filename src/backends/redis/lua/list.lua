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
-- @include lib/levels.lua
-- @include lib/park.lua
-- @include lib/ended.lua

local state, queue, user, name = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local after, limit = ARGV[5], tonumber(ARGV[6])
local SCAN = 500

local function matches(t)
  F.fixed(t)
  return (queue == '' or t.queue == queue) and (user == '' or t.user == user)
    and (name == '' or t.name == name)
end

-- Rows of one source behind a place { key, score, id }: ids and scores, at most `most`.
local function indexed(key, place, most)
  local rank = place and F.rankBehind(key, place[2], place[3]) or 0
  return redis.call('ZRANGE', key, rank, rank + most, 'WITHSCORES')
end

-- The rows of two sources in one order.
local function merged(some, others)
  local rows, i, j = {}, 1, 1
  while some[i] or others[j] do
    if some[i] and not (others[j] and tonumber(others[j + 1]) < tonumber(some[i + 1])) then
      rows[#rows + 1], rows[#rows + 2], i = some[i], some[i + 1], i + 2
    else
      rows[#rows + 1], rows[#rows + 2], j = others[j], others[j + 1], j + 2
    end
  end
  return rows
end

local function inLine(key, place, most)
  local rank, rows = place and F.rankInLine(key, place[2] + 1) or 0, {}
  for i, id in ipairs(redis.call('LRANGE', key, rank, rank + most)) do
    local t = F.taskOf(id, nil, 'none')
    rows[2 * i - 1], rows[2 * i] = id, string.format('%.0f', t and F.placeOf(t) or 0)
  end
  return rows
end

-- Those of a line, and those of its user and level that are parked: `aside` says of each line where.
local aside = {}

local function queued(key, place, most)
  local rows, parked = inLine(key, place, most), Park.after(aside[key], place and place[2], most + 1)
  return #parked == 0 and rows or merged(rows, parked)
end

-- Of started tasks, as text: with the lease end it tells their places.
local stampOf = {}

local function started(_, place, most)
  local found, rows = {}, {}
  for _, worker in ipairs(F.leasing()) do
    for _, id in ipairs(redis.call('HKEYS', K.hot(worker))) do
      local t = F.taskOf(id, worker)
      if t and t.state == 'started' then found[#found + 1] = F.fixed(t) end
    end
  end
  local function before(a, b)
    return a.leaseUntil < b.leaseUntil or (a.leaseUntil == b.leaseUntil and a.stamp < b.stamp)
  end
  table.sort(found, before)
  for _, t in ipairs(found) do
    local isBehind = not place or before({ leaseUntil = tonumber(place[2]), stamp = tonumber(place[3]) }, t)
    if isBehind and #rows <= 2 * most then
      rows[#rows + 1], rows[#rows + 2] = t.id, string.format('%.0f', t.leaseUntil)
      stampOf[t.id] = string.format('%.0f', t.stamp)
    end
  end
  return rows
end

-- Of the list of those that have ended; what has gone from it leaves a row that is no task's.
local function inList(key, place, most)
  local rank, rows = place and F.rankOfEnd(key, place[2] + 1) or 0, {}
  local stamp = place and tonumber(place[2]) or 0
  for i, entry in ipairs(redis.call('LRANGE', key, rank, rank + most)) do
    stamp = F.endStampOf(entry) or stamp
    rows[2 * i - 1], rows[2 * i] = F.isHole(entry) and '' or entry, string.format('%.0f', stamp)
  end
  return rows
end

-- Those and the ones that are kept for others, in the order of their ends.
local function ended(key, place, most)
  return merged(inList(key, place, most), indexed(K.kept(state), place, most))
end

-- The keys that hold the state, one behind the other, and how their rows are read.
local function sources()
  if state == 'started' then return { K.leases() }, started end
  if F.isEnd(state) then return { K.ended(state) }, ended end
  if state ~= 'queued' then return { K.state(state) }, indexed end
  local queues, keys = { queue }, {}
  if queue == '' then
    queues = redis.call('SMEMBERS', K.queues())
    table.sort(queues, F.before)
  end
  for _, each in ipairs(queues) do
    for level = 6, 1, -1 do
      local key = K.line(K.lane(each), level == 3 and '' or level, user)
      keys[#keys + 1], aside[key] = key, { key = K.parked(K.lane(each), user), level = level }
    end
  end
  return keys, queued
end

local place = after ~= '' and cjson.decode(after) or nil
local reply, found, looked, last = { '' }, 0, 0, nil
local keys, read = sources()
local passed = place ~= nil
for _, key in ipairs(keys) do
  local rows = {}
  if not passed or key == place[1] then
    rows = read(key, passed and place or nil, SCAN - looked)
    passed = false
  end
  for i = 1, #rows, 2 do
    if last and (found == limit or looked >= SCAN) then
      reply[1] = cjson.encode(last)
      return reply
    end
    looked = looked + 1
    last = { key, rows[i + 1], stampOf[rows[i]] or rows[i] }
    local t = F.taskOf(state == 'scheduled' and F.idOf(rows[i]) or rows[i])
    if t and t.state == state and matches(t) then
      found = found + 1
      F.addRecord(reply, t)
    end
  end
end
return reply
