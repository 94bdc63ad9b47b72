-- Stores on the short path: new tasks of one queue that are due, depend on nothing and have no key,
-- for users that are known. They may belong to a run, and be stored on behalf of its lease.

-- Whether the lease is in force that the call is made for: '<token> NUL <id>'.
local function plainFence(fence)
  local stop = string.find(fence, '\0', 1, true)
  local got = redis.call('HMGET', K.task(string.sub(fence, stop + 1)), 's', 'o')
  return got[1] and string.byte(got[1]) == 4
    and string.sub(got[2], 1, stop) == string.sub(fence, 1, stop)
end

-- The packed run of a task that has no other facts; nil for one that has.
local function plainSpec(items, spec)
  local packed = items.specs[spec]
  if packed == nil then
    packed = packedOwner(spec) or false
    items.specs[spec] = packed
  end
  return packed
end

-- Reads one task from ARGV `from` on into `items`; says where the next one begins, nil when it is
-- not plain.
local function plainItem(items, from)
  local id, blob, next_ = ARGV[from], ARGV[from + 3], from + 4
  local kind, long, owned = string.byte(blob, 2) - 48, false, false
  if ARGV[from + 2] ~= items.queue or items.known[id] then return end
  if kind % 2 == 1 then long, next_ = ARGV[next_], next_ + 1 end
  if kind >= 2 then
    owned, next_ = plainSpec(items, ARGV[next_]), next_ + 1
    if not owned then return end
  end
  local u = plainUser(items.lane, ARGV[from + 1])
  if not u or (u.maxQueued and not items.fenced) then return end
  local level, n = string.byte(blob) - 48, items.count + 1
  u.live, u.seq, u.queued, u.cnt[level] = u.live + 1, u.seq + 1, u.queued + 1, u.cnt[level] + 1
  local line = level == 6 and 'critical' or 'normal'
  local added = u[line] or {}
  u[line] = added
  added[#added + 1] = level == 6 and u.seq or (6 - level) * BAND + ROOT + u.seq
  added[#added + 1] = id
  items.known[id], items.count, items.ids[n] = true, n, K.task(id)
  items.blobs[n], items.longs[n], items.owned[n] = blob, long, owned
  return next_
end

local function plainItems(fenced)
  local queue = ARGV[4]
  local lane = plainLane(queue)
  if not lane then return end
  local items = { lane = lane, queue = queue, count = 0, known = {}, ids = {}, blobs = {},
    longs = {}, owned = {}, specs = {}, fenced = fenced }
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
  local fenced = #ARGV[1] > 1
  local clock = plainClock()
  if not clock or clock[CLOCK_MISSING] < INF then return end
  if fenced and not plainFence(string.sub(ARGV[1], 2)) then return end
  local items = plainItems(fenced)
  if not items or not plainRest(items.lane) then return end
  local lane, replies, created = items.lane, {}, string.format('%013.0f', now)
  for i = 1, items.count do
    storeText(items.ids[i], created .. items.blobs[i], items.longs[i], items.owned[i])
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
