-- Leases on the short path: tasks that were never leased before and depend on nothing; they may have
-- been delayed, or belong to a run.

-- Whether a task, whose rare facts these are, has no others than its run, and that has not ended.
local function plainOwned(request, packed)
  local known = request.owners[packed]
  if known ~= nil then return known end
  local run, ends = plainOwner(packed), request.ends
  local got = run and not (ends and ends.known[run]) and redis.call('HMGET', K.task(run), 'f', 's')
  known = got and got[1] and not (got[2] and string.byte(got[2]) >= 5) or false
  request.owners[packed] = known
  return known
end

-- What is left of the numbers of a task that was never leased: those of one that was delayed, or none.
local function plainNumbers(s)
  if not s then return '' end
  if string.sub(s, 1, 2) ~= '\3\0' or string.sub(s, 11, 19) ~= string.rep('\0', 9)
    or string.sub(s, 28) ~= string.rep('\0', 24) then
    return
  end
  return string.sub(s, 11, 27)
end

-- Facts of a task that waits in its line: its key and text, its numbers, its cost, and whether it has
-- a payload of its own. nil when it is not plain, or the worker does not know its name.
local function plainTask(lane, u, id, request)
  local key, names = K.task(id), request.names
  local got = redis.call('HMGET', key, 'f', 'g', 'h', 's', 'x', 'y')
  local f, numbers = got[1], plainNumbers(got[4])
  if not f or not numbers or got[6] or (got[5] and not plainOwned(request, got[5])) then return end
  if got[3] then f = f .. got[2] .. got[3] elseif got[2] then f = f .. got[2] end
  local from = 20 + #u.name + #lane.queue
  local a = string.find(f, '\0', from, true)
  local b = string.find(f, '\0', a + 1, true)
  local c = string.find(f, '\0', b + 1, true)
  if names and not string.find(names, ',' .. string.sub(f, from, a - 1) .. ',', 1, true) then return end
  return key, f, numbers, tonumber(string.sub(f, a + 1, b - 1)), c >= #f
end

-- One turn: takes the head of the user's line into the reply.
local function plainTake(lane, u, request)
  local id, score = plainHead(lane, u, request.limit - request.count)
  if not id then return end
  local key, f, numbers, cost, isLong = plainTask(lane, u, id, request)
  if not key then return end
  local n, reply, starts = request.count, request.reply, request.starts
  local seq = u.level == 6 and score + 0 or score - (6 - u.level) * BAND - ROOT
  if numbers == '' then numbers = request.numbers end
  starts[3 * n + 1] = key
  starts[3 * n + 2] = '\4\0' .. struct.pack('<d', seq) .. numbers .. request.tail
  starts[3 * n + 3] = request.owner .. u.name
  n = 7 + 9 * n
  reply[n + 1], reply[n + 2], reply[n + 3] = id, u.name, micros
  reply[n + 4], reply[n + 5], reply[n + 6], reply[n + 7] = 0, 0, 0, f
  reply[n + 8] = isLong and redis.call('HGET', key, 'p') or ''
  reply[n + 9] = ''
  request.count = request.count + 1
  u.gone[#u.gone + 1] = id
  return cost
end

-- The turn is charged, and the user stands where that puts it.
local function plainCharge(lane, u, front, cost)
  plainServed(lane, u)
  u.s = u.s + turnOf(cost)
  lane[LANE_V] = lane[LANE_V] + cost * 100 / lane[LANE_W]
  u.served, u.taken, u.queued = true, u.taken + 1, u.queued - 1
  u.cnt[u.level], u.running = u.cnt[u.level] - 1, u.running + 1
  front.at = front.at + 1
  if u.queued == 0 or u.running >= u.maxRunning then
    plainDisplace(lane, u)
  else
    plainStand(front, u.name, u.s)
  end
end

-- Deals out the turns; false when one of them is not plain.
local function plainDeal(lane, request)
  local fronts = plainFronts(lane, request.limit)
  if not fronts then return false end
  for i = 1, #lane.order do
    local u = lane.order[i]
    if u.ready and not u.wasReady then
      local front = fronts[u.class]
      if not front then return false end
      plainStand(front, u.name, u.s)
    end
  end
  while request.count < request.limit do
    local front = plainTurn(lane, fronts)
    if not front then return true end
    local u = plainUser(lane, front.names[front.at])
    if not u or not u.ready or u.s ~= front.tags[front.at] or not plainLevel(u) then return false end
    if not u.taken then u.taken, u.from, u.gone = 0, 0, {} end
    local cost = plainTake(lane, u, request)
    if not cost then return false end
    plainCharge(lane, u, front, cost)
  end
  return true
end

-- Writes what was leased: records, leases, and the lines that it left.
local function savePlainLeases(lane, request)
  local starts, added, reply = request.starts, {}, request.reply
  for i = 1, 3 * request.count, 3 do
    redis.call('HSET', starts[i], 's', starts[i + 1], 'o', starts[i + 2])
  end
  for i = 1, request.count do
    added[2 * i - 1], added[2 * i] = request.tillText, reply[9 * i - 1]
  end
  redis.call('ZADD', K.state('started'), unpack(added))
  for i = 1, #lane.order do
    local u = lane.order[i]
    if u.gone then
      redis.call('ZREM', u.line, unpack(u.gone))
      u.newShares = packPlainShares(u)
    end
  end
end
