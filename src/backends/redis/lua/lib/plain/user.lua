-- Keeps a user on the short path: no lists, no rate, not paused, in a class of its own weight.
-- @include lib/tags.lua

-- The user; nil when it is not plain.
local function plainUser(lane, name)
  local u = lane.users[name]
  if u then return u end
  local key = K.user(lane.p, name)
  local got = redis.call('HMGET', key, 'u', 'v', 'c', 't')
  atHand[key] = got
  if not got[1] then return end
  local own, perUser = NONE, lane.perUser
  if got[3] then
    local c = cmsgpack.unpack(got[3])
    own = c.o or NONE
    if c.l or own.rate or own.paused then return end
  end
  local s, ep, flags, w, room, a, b, c, d, e, f, seq, live, running, tat =
    struct.unpack(USER, got[1])
  local weight = own.weight or perUser.weight or 100
  if flags > READY or w ~= weight then return end
  u = { name = name, key = key, s = s, ep = ep, ready = flags == READY, wasReady = flags == READY,
    w = weight, room = room, cnt = { a, b, c, d, e, f }, queued = a + b + c + d + e + f, seq = seq,
    live = live, running = running, tat = tat, shares = got[2],
    maxRunning = own.maxRunning or perUser.maxRunning or INF,
    maxQueued = own.maxQueued or perUser.maxQueued, class = 'ow' .. weight }
  lane.users[name] = u
  lane.order[#lane.order + 1] = u
  return u
end

-- Takes the user among the ready ones when it may start something now; false when its class is not
-- plain.
local function plainPlace(lane, u)
  if u.ready or u.queued == 0 or u.running >= u.maxRunning then return true end
  local classes, n = plainClasses(lane), 0
  if not classes[u.class] then
    if classes['aw' .. u.w] then return false end
    for _ in pairs(classes) do n = n + 1 end
    if n >= LIMIT.weightClasses then return false end
  end
  classes[u.class] = (classes[u.class] or 0) + 1
  local lasts, kind = lane.lasts, 'w' .. u.w
  local kept = u.ep == lane[LANE_EPOCH] and u.s or 0
  u.s, lasts[kind] = enterTag(kept, lane[LANE_V], u.w, lasts[kind] or -1)
  u.ep, u.ready = lane[LANE_EPOCH], true
  lane[LANE_W] = lane[LANE_W] + u.w
  lane[LANE_READY] = lane[LANE_READY] + 1
  return true
end

local function plainDisplace(lane, u)
  local classes = plainClasses(lane)
  local left = classes[u.class] - 1
  classes[u.class] = left > 0 and left or nil
  if left == 0 and not classes['aw' .. u.w] then lane.lasts['w' .. u.w] = nil end
  lane[LANE_W] = lane[LANE_W] - u.w
  lane[LANE_READY] = lane[LANE_READY] - 1
  u.ready = false
end

-- Writes the users of the step, and where they stand among the ready ones.
local function savePlainUsers(lane)
  local ready, left = {}, {}
  for i = 1, #lane.order do
    local u = lane.order[i]
    local c, room = u.cnt, u.maxRunning - u.running
    if room > u.queued then room = u.queued end
    if room < 0 then room = 0 end
    lane[LANE_RUNNABLE] = lane[LANE_RUNNABLE] + room - u.room
    local packed = struct.pack(USER, u.s, u.ep, u.ready and READY or 0, u.w, room, c[1], c[2], c[3],
      c[4], c[5], c[6], u.seq, u.live, u.running, u.tat)
    if u.newShares then
      redis.call('HSET', u.key, 'u', packed, 'v', u.newShares)
    else
      redis.call('HSET', u.key, 'u', packed)
    end
    if u.ready and (u.served or not u.wasReady) then
      local class = ready[u.class] or {}
      ready[u.class] = class
      class[#class + 1] = u.s
      class[#class + 1] = u.name
    elseif u.wasReady and not u.ready then
      left[#left + 1] = u
    end
  end
  for class, members in pairs(ready) do
    redis.call('ZADD', K.ready(lane.p, class), unpack(members))
  end
  for i = 1, #left do redis.call('ZREM', K.ready(lane.p, left[i].class), left[i].name) end
end
