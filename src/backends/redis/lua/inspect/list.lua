-- Lists tasks of a state in the order of its index, queued ones by the place in their line: a part of a page,
-- as much of it as one script may look at. Those that are started stand in no order: see leases.lua.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  state   of the tasks
-- ARGV[2]  queues  parted by ',', or '' for all; those of 'queued' are looked through in this order
-- ARGV[3]  user    or ''; needed for 'queued'
-- ARGV[4]  name    or ''
-- ARGV[5]  error   of the failed ones: their error group, or ''
-- ARGV[6]  after   place of the last row of the part before, as JSON, or ''
-- ARGV[7]  limit   most rows to tell
-- ARGV[8]  scan    most rows to look at
-- ARGV[9]  bytes   that the rows may weigh; the last may weigh more
-- ARGV[10] values  '1': with payloads and results
-- Returns  place of the last row that was looked at or '', 1 when more follow, how many were looked at, what
--          those told weigh, then five texts for each task as in lib/records/record.lua
-- Cost     O(rows looked at + bytes), within LIMIT.scriptUnits and scriptBytes

F.readAll()
local state, queues, user, name, error_ = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local after, limit, scan, values = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[10] == '1'
-- Of a row that the filter passes over, and of a line that may be empty.
local PASSED, LINE = 0.8, 0.2

F.limitBytes(tonumber(ARGV[9]))

local function matches(t)
  F.fixed(t)
  return (state == 'queued' or queues == '' or t.queueName == queues) and (user == '' or t.user == user)
    and (name == '' or t.name == name or string.find(t.name, name .. '@', 1, true) == 1)
end

-- Entries of a list or, with their scores, of a sorted set, one after the other from a rank on.
local function walk(key, rank, isList)
  local rows, at_ = NONE, 1
  return function()
    if not rows[at_] then
      if isList then
        rows = redis.call('LRANGE', key, rank, rank + (LIMIT.listedStep - 1))
      else
        rows = redis.call('ZRANGE', key, rank, rank + (LIMIT.listedStep - 1), 'WITHSCORES')
      end
      rank, at_ = rank + LIMIT.listedStep, 1
    end
    local entry, score = rows[at_], rows[at_ + 1]
    at_ = at_ + (isList and 1 or 2)
    return entry, score
  end
end

local function indexed(key, place)
  return walk(key, place and F.rankBehind(key, place[2], place[3]) or 0)
end

-- The rows of two sources in one order.
local function merged(some, others)
  local one, at_ = some()
  local other, otherAt = others()
  return function()
    local id, score = one, at_
    if not one or (other and tonumber(otherAt) < tonumber(at_)) then
      id, score = other, otherAt
      other, otherAt = others()
    else
      one, at_ = some()
    end
    return id, score
  end
end

local function inLine(key, place)
  local following = walk(key, place and F.rankInLine(key, place[2] + 1) or 0, true)
  return function()
    local id = following()
    local t = id and F.taskOf(id, nil, 'none')
    return id, t and F.placeOf(t) or 0
  end
end

-- Those of a line, and those of its user and level that are parked: `aside` tells them for each line.
local aside = {}

local function queued(key, place)
  local rows, at_, from = NONE, 1, place and place[2]
  return merged(inLine(key, place), function()
    if not rows[at_] then
      rows, at_ = aside[key](from, LIMIT.listedStep), 1
      from = rows[#rows] or from
    end
    at_ = at_ + 2
    return rows[at_ - 2], rows[at_ - 1]
  end)
end

-- The list of those that have ended, and those that are kept for others, in the order of their ends. What has
-- gone from the list leaves a row that is no task's.
local function ended(key, place)
  local listed = walk(key, place and F.rankOfEnd(key, place[2] + 1) or 0, true)
  local stamp = place and tonumber(place[2]) or 0
  return merged(function()
    local entry = listed()
    stamp = entry and F.endStampOf(entry) or stamp
    return entry and (F.isHole(entry) and '' or entry), stamp
  end, indexed(K.kept(state), place))
end

-- The keys that hold the state, one behind the other, and how their rows are read.
local function sources()
  if error_ ~= '' then return { K.failedOf(error_) }, indexed end
  if state == 'failed' and name ~= '' then return { K.failedNamed((string.gsub(name, '@.*$', ''))) }, indexed end
  if F.isEnd(state) then return { K.ended(state) }, ended end
  if state ~= 'queued' then return { K.state(state) }, indexed end
  local keys = {}
  for each in string.gmatch(queues, '[^,]+') do
    for level = 6, 1, -1 do
      local key = K.line(K.queue(each), K.levelPart(level), user)
      keys[#keys + 1] = key
      aside[key] = function(from, most) return Park.after(K.queue(each), user, level, from, most) end
    end
  end
  return keys, queued
end

local place = after ~= '' and cjson.decode(after) or nil
local reply, found, looked, last, bytes = { '', 0, 0, 0 }, 0, 0, nil, 0

local function answer(more)
  reply[1], reply[2], reply[3], reply[4] = last and cjson.encode(last) or '', more, looked, bytes
  return reply
end

local keys, open = sources()
local passed = place ~= nil
for _, key in ipairs(keys) do
  F.spend(LINE, 0)
  if not passed or key == place[1] then
    for entry, score in open(key, passed and place or nil) do
      if last and (found == limit or looked >= scan or F.isSpent()) then return answer(1) end
      looked = looked + 1
      last = { key, type(score) == 'number' and string.format('%.0f', score) or score, entry }
      local t = F.taskOf(state == 'scheduled' and F.idOf(entry) or entry)
      if t and t.state == state and matches(t) then
        found, bytes = found + 1, bytes + F.addRecord(reply, t, values)
      else
        F.spend(PASSED, 0)
      end
    end
    passed = false
  end
end
return answer(0)
