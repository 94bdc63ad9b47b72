-- Stores on the short path: new tasks of one queue that are due, depend on nothing and have no key,
-- for users that are known.

-- Reads one task from ARGV `from` on into `items`; says where the next one begins, nil when it is
-- not plain.
local function plainItem(items, from)
  local id, blob = ARGV[from], ARGV[from + 3]
  local kind = string.byte(blob, 2) - 48
  if kind > 1 or ARGV[from + 2] ~= items.queue or items.known[id] then return end
  local u = plainUser(items.lane, ARGV[from + 1])
  if not u or u.maxQueued then return end
  local level, n = string.byte(blob) - 48, items.count + 1
  u.live, u.seq, u.queued, u.cnt[level] = u.live + 1, u.seq + 1, u.queued + 1, u.cnt[level] + 1
  local line = level == 6 and 'critical' or 'normal'
  local added = u[line] or {}
  u[line] = added
  added[#added + 1] = level == 6 and u.seq or (6 - level) * BAND + ROOT + u.seq
  added[#added + 1] = id
  items.known[id], items.count, items.ids[n] = true, n, K.task(id)
  items.blobs[n], items.longs[n] = blob, kind == 1 and ARGV[from + 4]
  return from + 4 + kind
end

local function plainItems()
  local queue = ARGV[4]
  local lane = plainLane(queue)
  if not lane then return end
  local items = { lane = lane, queue = queue, count = 0, known = {}, ids = {}, blobs = {},
    longs = {} }
  local from, last = 2, #ARGV
  while from and from <= last do from = plainItem(items, from) end
  if not from or redis.call('EXISTS', unpack(items.ids)) > 0 then return end
  for i = 1, #lane.order do
    if not plainPlace(lane, lane.order[i]) then return end
  end
  lane[LANE_QUEUED] = lane[LANE_QUEUED] + items.count
  lane[LANE_ENQUEUED] = lane[LANE_ENQUEUED] + items.count
  return items
end

-- Stores the tasks of the call; nil when one of them is not plain.
local function plainEnqueue()
  local clock = #ARGV[1] == 1 and plainClock()
  if not clock or clock[CLOCK_MISSING] < INF then return end
  local items = plainItems()
  if not items or not plainRest(items.lane) then return end
  local lane, replies, created = items.lane, {}, string.format('%013.0f', now)
  for i = 1, items.count do
    storeText(items.ids[i], created .. items.blobs[i], items.longs[i])
    replies[i] = 'c'
  end
  for i = 1, #lane.order do
    local u = lane.order[i]
    if u.normal then redis.call('ZADD', K.normal(lane.p, u.name), unpack(u.normal)) end
    if u.critical then redis.call('ZADD', K.critical(lane.p, u.name), unpack(u.critical)) end
  end
  savePlainUsers(lane)
  savePlainLane(lane)
  savePlainClock(clock)
  return replies
end
