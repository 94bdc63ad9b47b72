-- Keeps W and virtual time: a user that was ahead of V when it stopped being ready counts in W until V has passed its tag, or
-- until it is ready again. Those without a record are the kept tags that V has not passed; those with one stand in
-- `leavers`, as `<weight>:<name>` by where their tags stand in virtual time, and `leaving` is the sum of their weights.

-- A user that is not ready does not count.
function Fluid.new()
  local late = { got = {}, at = 1, size = 0, isWhole = true }
  return { weight = 0, first = INF, late = late, passed = 0 }
end

-- Some of those who count, in the order of their tags: those behind `passed`, or all; some at a time.
function Fluid.source(key, passed, scale)
  return { key = key, passed = passed, scale = scale, got = NONE, at = 1, size = 0, rank = 0, from = 0, isWhole = false }
end

-- Reads more of them. By rank: an offset behind a score would be walked anew each time.
function Fluid.read(source)
  local key, from, most = source.key, source.from, math.min(LIMIT.leaversReadMost, LIMIT.leaversRead + source.from)
  local got
  if from == 0 and source.passed then
    got = redis.call('ZRANGEBYSCORE', key, '(' .. source.passed, '+inf', 'WITHSCORES', 'LIMIT', '0', string.format('%d', most))
  else
    if source.passed then source.rank, source.passed = redis.call('ZCOUNT', key, '-inf', source.passed), nil end
    got = redis.call('ZRANGE', key, string.format('%d', source.rank + from), string.format('%d', source.rank + from + most - 1), 'WITHSCORES')
  end
  source.got, source.at, source.size, source.from = got, 1, #got, from + #got / 2
  source.isWhole = #got < 2 * most
end

function Fluid.startOf(source)
  if source.at > source.size and not source.isWhole then Fluid.read(source) end
  if source.at > source.size then return INF end
  return source.got[source.at + 1] / source.scale
end

-- Finds the first of all.
function Fluid.look(fluid)
  local late, first, of = fluid.late, INF, nil
  if late.at <= late.size then first, of = late.got[late.at + 1], late end
  for i = 1, 2 do
    local source = fluid[i]
    local start = source and Fluid.startOf(source) or INF
    if start < first then first, of = start, source end
  end
  fluid.first, fluid.head = first, of
end

-- Who counts in W now although it is not ready; nil when there is none.
function Fluid.open(queue)
  local fluid, records = Fluid.new(), nil
  if queue.tags > 0 then
    local key, scale = K.keptTags(queue.prefix), Tag.scaleOf(USUAL.weight)
    if whole then F.flushKey(key) end
    local passed = string.format('%.17g', queue.virtual * scale)
    local source = Fluid.source(key, passed, scale)
    Fluid.startOf(source)
    local n = source.size / 2
    if not source.isWhole then n = redis.call('ZCOUNT', key, '(' .. passed, '+inf') end
    if n > 0 then fluid[1], fluid.weight = source, n * USUAL.weight end
  end
  if queue.leaving > 0 then
    records = Fluid.source(K.leavers(queue.prefix), nil, 1)
    Fluid.startOf(records)
    -- All were removed from outside.
    if records.size == 0 then queue.leaving, queue.rest, records = 0, false, nil end
  end
  if records then
    fluid[2], fluid.records, fluid.weight = records, records, fluid.weight + queue.leaving
    records.gone, records.goneWeight = 0, 0
  end
  if fluid.weight == 0 then return end
  Fluid.look(fluid)
  return fluid
end

-- With which a member of `leavers` counts; 0 of what was written from outside.
function Fluid.weightOf(member) return tonumber(string.match(member, '^(%d+):')) or 0 end

-- V has come to the tag of the first, which counts no more.
function Fluid.pass(fluid)
  local source, weight = fluid.head, USUAL.weight
  if source == fluid.late then
    weight = source.got[source.at]
  elseif source == fluid.records then
    weight = Fluid.weightOf(source.got[source.at])
    source.gone, source.goneWeight = source.gone + 1, source.goneWeight + weight
  end
  fluid.weight, fluid.passed, source.at = fluid.weight - weight, fluid.passed + 1, source.at + 2
  Fluid.look(fluid)
end

-- Virtual time after a turn of this cost that began at `v`, while the weights of the ready users are so much.
function Fluid.after(fluid, v, cost, ready)
  while fluid.first <= v do Fluid.pass(fluid) end
  while true do
    local weights = ready + fluid.weight
    if weights <= 0 then return v end
    local first, to = fluid.first, Turn.afterTurn(v, cost, weights)
    if to < first then return to end
    cost = Turn.costLeft(cost, v, first, weights)
    if first > v then v = first end
    Fluid.pass(fluid)
  end
end

-- One more has left, ahead of V.
function Fluid.add(fluid, start, weight)
  local late, got = fluid.late, fluid.late.got
  local at_ = late.size + 1
  while at_ > late.at and got[at_ - 1] > start do
    got[at_], got[at_ + 1] = got[at_ - 2], got[at_ - 1]
    at_ = at_ - 2
  end
  got[at_], got[at_ + 1], late.size = weight, start, late.size + 2
  fluid.weight = fluid.weight + weight
  if start < fluid.first then fluid.first, fluid.head = start, late end
end

-- Takes those with a record whose tags V has passed out of their index.
function Fluid.save(queue, fluid)
  local records = fluid and fluid.records
  if not records or records.gone == 0 then return end
  redis.call('ZREMRANGEBYRANK', records.key, '0', string.format('%d', records.gone - 1))
  queue.leaving, queue.rest = queue.leaving - records.goneWeight, false
  if queue.leaving < 0 or records.isWhole and records.gone >= records.from then
    queue.leaving = 0
  end
end

-- V moves by a turn of this cost, while the weights of the ready users are so much.
function Fluid.advance(queue, cost, ready)
  local fluid = (queue.tags > 0 or queue.leaving > 0) and Fluid.open(queue)
  if fluid then
    queue.virtual = Fluid.after(fluid, queue.virtual, cost, ready)
    return Fluid.save(queue, fluid)
  end
  if ready > 0 then queue.virtual = Turn.afterTurn(queue.virtual, cost, ready) end
end

function Fluid.member(name, weight) return string.format('%d:', weight) .. name end

-- A user with a record stopped being ready, ahead of V.
function Fluid.file(queue, name, weight, start)
  local key = K.leavers(queue.prefix)
  -- One of another version may have left some.
  if queue.leaving == 0 then redis.call('DEL', key) end
  if redis.call('ZADD', key, string.format('%.17g', start), Fluid.member(name, weight)) == 1 then
    queue.leaving = queue.leaving + weight
  end
end

-- Whether the user has a tag that counts, and is not ready.
function Fluid.isAhead(u)
  return not u.ready and u.tagEpoch == u.queue.epoch and F.startOf(u) > u.queue.virtual
end

-- The user is no longer ready, or has another tag.
function Fluid.leave(u)
  if not Fluid.isAhead(u) then return end
  local queue = u.queue
  if F.needsRecord(u) then return Fluid.file(queue, u.name, u.countedWeight, F.startOf(u)) end
  if not u.isKept then queue.tags, u.isKept = queue.tags + 1, true end
  F.zset(K.keptTags(queue.prefix), u.name, u.startTag)
end

-- Whether the user counts although it is not ready.
function Fluid.has(u)
  if not Fluid.isAhead(u) then return false end
  return u.isKept or u.queue.leaving > 0
    and redis.call('ZSCORE', K.leavers(u.queue.prefix), Fluid.member(u.name, u.countedWeight)) ~= false
end

-- The user counts no more, or does so since it is ready.
function Fluid.drop(u)
  local queue = u.queue
  if u.isKept then
    queue.tags, u.isKept = queue.tags - 1, false
    F.zset(K.keptTags(queue.prefix), u.name, false)
  end
  if queue.leaving == 0 or not Fluid.isAhead(u) then return end
  if redis.call('ZREM', K.leavers(queue.prefix), Fluid.member(u.name, u.countedWeight)) == 1 then
    queue.leaving = queue.leaving - u.countedWeight
  end
end

-- What the weights in `leavers` come to.
function Fluid.sum(queue)
  local key, sum = K.leavers(queue.prefix), 0
  for from = 0, redis.call('ZCARD', key) - 1, LIMIT.commandValues do
    for _, member in ipairs(redis.call('ZRANGE', key, from, from + LIMIT.commandValues - 1)) do
      sum = sum + Fluid.weightOf(member)
    end
  end
  return sum
end

-- No user counts any more.
function Fluid.forget(queue)
  if queue.leaving == 0 then return end
  redis.call('DEL', K.leavers(queue.prefix))
  queue.leaving, queue.rest = 0, false
end

-- The tag of a user is another one now.
function Fluid.retag(u, tag)
  if u.ready then
    F.indexUser(u, false)
    u.startTag = tag
    return F.indexUser(u, true)
  end
  Fluid.drop(u)
  u.startTag = tag
  Fluid.leave(u)
end

-- A turn was charged so many grains too little (below 0: too much): the tag moves by them, and V by what that is of W.
function Fluid.correct(u, grains)
  local queue, cost = u.queue, grains / GRAINS.turn
  local counted = u.ready or Fluid.has(u)
  if cost < 0 and counted then
    local fluid = Fluid.open(queue)
    queue.virtual = math.max(0, Turn.afterTurn(queue.virtual, cost, queue.weightSum + (fluid and fluid.weight or 0)))
  end
  Fluid.retag(u, u.startTag + grains)
  if cost <= 0 or not (u.ready or Fluid.has(u)) then return end
  -- V had passed its tag: only what is ahead of V now was missing.
  if not counted then cost = math.min(cost, (F.startOf(u) - queue.virtual) * u.countedWeight / 100) end
  Fluid.advance(queue, cost, queue.weightSum)
end
