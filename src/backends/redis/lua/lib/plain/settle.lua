-- Settles on the short path: tasks that finished at their first attempt. Others may wait for them, as
-- long as none of these goes on with that.

-- A step tells fewer dependents than this: the long path would leave the rest for later.
local TOLD = 100

-- One more of those that a dependent waits for has finished; false when it is to hear of that in
-- another way, or would go on.
local function plainTold(ends, id, dependent)
  local told = ends.told[dependent]
  if not told then
    local s = redis.call('HGET', K.task(dependent), 's')
    -- Scheduled or deferred.
    if not s or string.byte(s) > 2 then return false end
    told = { id = dependent, left = redis.call('SCARD', K.blocked(dependent)), by = {} }
    ends.told[dependent] = told
    ends.dependents[#ends.dependents + 1] = told
  end
  told.left = told.left - 1
  told.by[#told.by + 1] = id
  return told.left > 0
end

-- Tells those that wait for a task; says how many, nil when one of them is not plain.
local function plainWaiting(ends, id)
  local key = K.waiting(id)
  local waiting = redis.call('ZRANGE', key, 0, TOLD)
  local n = #waiting
  if n == 0 then return 0 end
  ends.telling = ends.telling + n
  if ends.telling >= TOLD then return end
  for i = 1, n do
    if not plainTold(ends, id, waiting[i]) then return end
  end
  ends.empty[#ends.empty + 1] = key
  return n
end

-- Reads one settlement into `ends`; false when it is not plain.
local function plainFinish(lane, ends, worker, from)
  local id, token, result = ARGV[from], ARGV[from + 1], ARGV[from + 3]
  if ARGV[from + 2] ~= 'finish' then return false end
  local key = K.task(id)
  local got = redis.call('HMGET', key, 's', 'o', 'x', 'y', 'w', 'd')
  atHand[key] = got
  local s, owner = got[1], token .. '\0' .. worker.id .. '\0' .. lane.queue .. '\0'
  if not s or got[4] or ends.known[id] or string.sub(s, 1, 2) ~= '\4\0'
    or string.sub(s, -4) ~= '\0\0\0\0' or string.sub(got[2], 1, #owner) ~= owner
    or (got[3] and not plainOwner(got[3])) then
    return false
  end
  local u = plainUser(lane, string.sub(got[2], #owner + 1))
  local readers = u and (got[6] and plainWaiting(ends, id) or not got[6] and 0)
  if not readers then return false end
  u.live, u.running = u.live - 1, u.running - 1
  if not plainPlace(lane, u) then return false end
  local n = ends.count
  ends.records[3 * n + 1], ends.records[3 * n + 3] = key, result
  ends.records[3 * n + 2] = (got[6] and '\5\18' or '\5\16') .. string.sub(s, 3, 19)
    .. ends.packedNow .. string.sub(s, 28, 47) .. struct.pack('<I', readers)
  ends.ids[n + 1], ends.readers[n + 1] = id, readers
  ends.count, ends.known[id] = n + 1, true
  if got[5] then ends.awaited[#ends.awaited + 1] = { got[5], id } end
  return true
end

-- Reads `count` settlements from ARGV; nil when one of them is not plain.
local function plainEnds(lane, worker, count, from)
  local ends = { count = 0, records = {}, ids = {}, readers = {}, known = {}, awaited = {},
    told = {}, dependents = {}, empty = {}, telling = 0, packedNow = struct.pack('<d', now) }
  for i = 0, count - 1 do
    if not plainFinish(lane, ends, worker, from + 6 * i) then return end
  end
  lane[LANE_STARTED] = lane[LANE_STARTED] - count
  lane[LANE_FINISHED] = lane[LANE_FINISHED] + count
  lane[LANE_EVER_FINISHED] = lane[LANE_EVER_FINISHED] + count
  worker.gained, worker.succeeded = worker.gained - count, count
  return ends
end

local function savePlainEnds(clock, ends)
  local records, scored = ends.records, {}
  for i = 1, #records, 3 do
    redis.call('HSET', records[i], 's', records[i + 1], 'r', records[i + 2])
  end
  local nowText = string.format('%.0f', now)
  for i = 1, #ends.ids do
    scored[2 * i - 1] = ends.readers[i] > 0 and now + LIMIT.held or nowText
    scored[2 * i] = ends.ids[i]
  end
  local key = K.state('finished')
  redis.call('ZADD', key, unpack(scored))
  redis.call('ZREM', K.state('started'), unpack(ends.ids))
  if ends.telling == 0 then
    if now < clock[CLOCK_FINISHED] then clock[CLOCK_FINISHED] = now end
    return
  end
  clock[CLOCK_FINISHED] = tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2])
  for i = 1, #ends.dependents do
    local told = ends.dependents[i]
    redis.call('SREM', K.blocked(told.id), unpack(told.by))
  end
  redis.call('DEL', unpack(ends.empty))
end

-- Tells those that wait for the end of one of the tasks.
local function tellPlainEnds(ends)
  for i = 1, #ends.awaited do
    for channel in string.gmatch(ends.awaited[i][1], '[^ ]+') do
      redis.call('PUBLISH', channel, ends.awaited[i][2])
    end
  end
end
