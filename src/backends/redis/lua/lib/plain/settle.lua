-- Settles on the short path: tasks that finished at their first attempt and that no other task
-- waits for.

-- Reads one settlement into `ends`; false when it is not plain.
local function plainFinish(lane, ends, worker, from)
  local id, token, result = ARGV[from], ARGV[from + 1], ARGV[from + 3]
  if ARGV[from + 2] ~= 'finish' then return false end
  local key = K.task(id)
  local got = redis.call('HMGET', key, 's', 'o', 'x', 'y', 'd', 'w')
  local s, owner = got[1], token .. '\0' .. worker.id .. '\0' .. lane.queue .. '\0'
  if not s or got[3] or got[4] or got[5] or ends.known[id] or string.sub(s, 1, 2) ~= '\4\0'
    or string.sub(s, -4) ~= '\0\0\0\0' or string.sub(got[2], 1, #owner) ~= owner then
    return false
  end
  local u = plainUser(lane, string.sub(got[2], #owner + 1))
  if not u then return false end
  u.live, u.running = u.live - 1, u.running - 1
  if not plainPlace(lane, u) then return false end
  local n = ends.count
  ends.records[3 * n + 1], ends.records[3 * n + 3] = key, result
  ends.records[3 * n + 2] = '\5\16' .. string.sub(s, 3, 19) .. ends.packedNow .. string.sub(s, 28)
  ends.ids[n + 1], ends.count, ends.known[id] = id, n + 1, true
  if got[6] then ends.awaited[#ends.awaited + 1] = { got[6], id } end
  return true
end

-- Reads `count` settlements from ARGV; nil when one of them is not plain.
local function plainEnds(lane, worker, count, from)
  local ends = { count = 0, records = {}, ids = {}, known = {}, awaited = {},
    packedNow = struct.pack('<d', now) }
  for i = 0, count - 1 do
    if not plainFinish(lane, ends, worker, from + 6 * i) then return end
  end
  lane[LANE_STARTED] = lane[LANE_STARTED] - count
  lane[LANE_FINISHED] = lane[LANE_FINISHED] + count
  lane[LANE_EVER_FINISHED] = lane[LANE_EVER_FINISHED] + count
  worker.gained = worker.gained - count
  return ends
end

local function savePlainEnds(clock, ends)
  local records, scored = ends.records, {}
  for i = 1, #records, 3 do
    redis.call('HSET', records[i], 's', records[i + 1], 'r', records[i + 2])
  end
  local nowText = string.format('%.0f', now)
  for i = 1, #ends.ids do scored[2 * i - 1], scored[2 * i] = nowText, ends.ids[i] end
  redis.call('ZADD', K.state('finished'), unpack(scored))
  redis.call('ZREM', K.state('started'), unpack(ends.ids))
  if now < clock[CLOCK_FINISHED] then clock[CLOCK_FINISHED] = now end
end

-- Tells those that wait for the end of one of the tasks.
local function tellPlainEnds(ends)
  for i = 1, #ends.awaited do
    for channel in string.gmatch(ends.awaited[i][1], '[^ ]+') do
      redis.call('PUBLISH', channel, ends.awaited[i][2])
    end
  end
end
