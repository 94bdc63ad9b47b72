-- Checks new tasks and stores them. All checks of an atomic batch come before its first write.

-- What this call has written; names: whether any id was known before, ids that it made, those of
-- them that belong to a submission, and the moment of creation as text.
Store.wrote, Store.anyKnown, Store.made, Store.kept = false, true, {}, {}
Store.created = string.format('%013.0f', now)
Store.submission, Store.users, Store.named = false, false, false

-- The tasks of the call, as records in the making.
function Store.readItems(from)
  local items, ids, n = {}, {}, 0
  local at_, count = from, #ARGV
  while at_ <= count do
    local id, blob = ARGV[at_], ARGV[at_ + 3]
    local kind = string.byte(blob, 2) - 48
    local item = { id = id, user = ARGV[at_ + 1], queue = ARGV[at_ + 2], blob = blob }
    at_ = at_ + 4
    if kind % 2 == 1 then
      item.long = ARGV[at_]
      at_ = at_ + 1
    end
    if kind >= 2 then
      item.spec = cjson.decode(ARGV[at_])
      at_ = at_ + 1
    end
    n = n + 1
    items[n], ids[n] = item, K.task(id)
  end
  local known = 0
  for i = 1, n, 500 do
    known = known + redis.call('EXISTS', unpack(ids, i, math.min(n, i + 499)))
  end
  Store.anyKnown = known > 0
  return items
end

function Store.existingTask(item)
  if not Store.anyKnown and not Store.made[item.id] then return false end
  return F.taskOf(item.id)
end

-- Fills in what only some checks look at.
-- @rare
function Store.complete(item)
  if item.f then return item end
  item.f = Store.created .. item.blob
  local user = item.user
  F.fixed(item)
  item.user = user
  item.payload = F.payloadOf(item)
  local spec = item.spec
  if spec then item.x = { d = spec.d, g = spec.g, i = spec.i } end
  return item
end

-- @rare
function Store.agrees(t, item)
  F.fixed(t)
  Store.complete(item)
  if t.user ~= item.user or t.name ~= item.name then return false end
  if t.x and t.x.fp then return redis.sha1hex(item.payload) == t.x.fp end
  return F.payloadOf(t) == item.payload
end

-- @rare
function Store.refused(refusal)
  return { kind = 'refused', refusal = refusal }
end

-- A batch that is sent again after its client had died takes what is stored of it already.
-- @rare
function Store.takeOver(t)
  local mine = Store.submission
  if not mine or not t.x or not t.x.su or t.x.su == mine then return end
  t.x.su, t.xDirty, Store.wrote = mine, true, true
  F.change(t)
  Store.kept[#Store.kept + 1] = t.id
  return { kind = 'created', id = t.id }
end

-- The answer when nothing new is to be stored: the id, or its key, was there before.
function Store.answerKnown(item)
  local same = Store.existingTask(item)
  if same then
    if not Store.agrees(same, item) then return Store.refused({ type = 'task-conflict', id = item.id }) end
    return Store.takeOver(same) or Key.existing(item.id, false, false)
  end
  if not item.spec or not item.spec.i then return end
  local key = Key.rememberedKey(Store.complete(item))
  if not key then return end
  if Key.hasAbsorbed(key, item.id) then return Key.existing(key.f or key.o, false, false) end
  if not Key.holds(key) then return end
  local reply = Key.answerByKey(key, item)
  if reply then
    Key.absorb(key, item, reply)
    Store.wrote = true
  end
  return reply
end

-- Whether the key lets the item in (true, 'follows'), answers for another or refuses it (false).
-- @rare
function Store.byKey(item, batch)
  if not item.spec or not item.spec.i then return true end
  Store.complete(item)
  local spec = item.x.i
  local name = K.key(item.queue, item.user, spec.key)
  local holder = batch and batch.keys[name]
  if holder then
    batch.answered[item.id] = holder
    if spec.policy ~= 'reject' then return false end
    return false, { type = 'key-taken', key = spec.key, id = holder }
  end
  local key = Key.rememberedKey(item)
  if key then
    if Key.hasAbsorbed(key, item.id) then return false end
    if Key.holds(key) then
      local reply = Key.answerByKey(key, item)
      if reply and reply.refusal then return false, reply.refusal end
      if batch then batch[reply and 'answered' or 'keys'][reply and item.id or name] = key.o end
      if reply then return false end
      return 'follows'
    end
  end
  if batch then batch.keys[name] = item.id end
  return true
end

function Store.byLimit(item, batch)
  local u = F.userOf(F.laneOf(item.queue), item.user)
  if not u.set.maxQueued then return end
  local scope = K.pair(item.queue, item.user)
  local earlier = batch and batch.waiting[scope] or 0
  local size = u.live - u.running + earlier
  if size >= u.set.maxQueued then
    return { type = 'queue-full', user = item.user, limit = u.set.maxQueued, size = size }
  end
  if batch then batch.waiting[scope] = earlier + 1 end
end

-- Why an item cannot be stored; looks at what earlier items of its batch will have changed.
function Store.refuse(item, batch)
  local same = Store.existingTask(item)
  if same then return not Store.agrees(same, item) and { type = 'task-conflict', id = item.id } or nil end
  local twin = batch and batch.tasks[item.id]
  if twin and twin ~= item and not twin.elsewhere then
    Store.complete(twin)
    Store.complete(item)
    local equal = twin.user == item.user and twin.name == item.name
      and twin.payload == item.payload
    return not equal and { type = 'task-conflict', id = item.id } or nil
  end
  local new, refusal = true, nil
  if item.spec and item.spec.i then new, refusal = Store.byKey(item, batch) end
  if not new then return refusal end
  -- A follower stands for calls that were accepted already.
  refusal = new ~= 'follows' and Store.byLimit(item, batch) or nil
  if refusal or not (item.spec and item.spec.d) then return refusal end
  Store.complete(item)
  return Link.check(item, batch and batch.tasks)
end

-- A task without other facts goes straight to the end of its user's line.
function Store.storePlain(item)
  local id, blob = item.id, item.blob
  local lane = F.laneOf(item.queue)
  local u = F.userOf(lane, item.user)
  local f, key = Store.created .. blob, K.task(id)
  if item.long then
    redis.call('HSET', key, 'f', f, 'p', item.long)
  elseif #f > 192 then
    redis.call('HSET', key, 'f', f)
  elseif #f > 128 then
    redis.call('HSET', key, 'f', string.sub(f, 1, 64), 'g', string.sub(f, 65, 128), 'h',
      string.sub(f, 129))
  else
    redis.call('HSET', key, 'f', string.sub(f, 1, 64), 'g', string.sub(f, 65))
  end
  Store.wrote, Store.made[id] = true, true
  tasks[id] = nil
  local level = string.byte(blob) - 48
  u.live = u.live + 1
  u.seq = u.seq + 1
  u.queued = u.queued + 1
  u.cnt[level] = u.cnt[level] + 1
  lane.enqueued = lane.enqueued + 1
  lane.counts.queued = lane.counts.queued + 1
  F.zset(F.levelKey(u, level), id, F.levelScore(level, u.seq))
  F.reindex(u)
end

-- Those that waited for an id that nobody had stored wait for a task now.
-- @rare
function Store.adoptWaiters(t)
  if Store.named and Store.named[t.id] then F.markDependents(t) end
  if H.missing == INF then return end
  F.flushKey(K.waiting(t.id))
  local ids = redis.call('ZRANGE', K.waiting(t.id), 0, 99)
  if #ids == 0 then return end
  F.move('missing', t.id, false)
  F.markDependents(t)
  for _, id in ipairs(ids) do
    local waiter = F.taskOf(id)
    if waiter then Deps.rewait(waiter) end
  end
end

-- @rare
function F.contains(list, id)
  for _, other in ipairs(list) do
    if other == id then return true end
  end
  return false
end

-- Makes the record; it stands nowhere yet.
-- @rare
function Store.create(item)
  Store.complete(item)
  local u = F.userOf(F.laneOf(item.queue), item.user)
  local t = F.newTask(item.id, item.f)
  t.user, t.queue, t.state = item.user, item.queue, 'deferred'
  F.fixed(t)
  local x = item.x or {}
  t.x = { d = x.d, g = x.g, k = x.i and x.i.key, su = Store.submission or nil }
  if Store.submission then Store.kept[#Store.kept + 1] = t.id end
  tasks[t.id], Store.made[t.id], Store.wrote = t, true, true
  F.setText(t)
  if item.long then F.setField(t, 'p', item.long) end
  local key = Key.rememberedKey(item)
  if key and Key.holds(key) then
    t.x.d = t.x.d or {}
    t.x.g = t.x.g or { 'wait', 'cancel', 'refuse', false }
    t.x.g[1], t.x.g[2] = 'run', 'run'
    if not F.contains(t.x.d, key.o) then table.insert(t.x.d, key.o) end
    key.f, key.dirty = t.id, true
  elseif x.i then
    Key.takeKey(item, t)
  end
  if t.x.d and #t.x.d == 0 then t.x.d = nil end
  u.live = u.live + 1
  u.lane.enqueued = u.lane.enqueued + 1
  Store.adoptWaiters(t)
  return t
end

-- Links the dependencies and puts the task where it belongs.
-- @rare
function Store.settleIn(t, item)
  local u, spec = F.ownerOf(t), item.spec or {}
  local due = spec.at or now + math.max(0, spec.delay or 0)
  if spec.expires then
    t.x.ex = math.max(now, due) + spec.expires
    F.setDeadline(t)
  end
  local state, ending
  if t.x.d then state, ending = Link.link(t) end
  t.xDirty = next(t.x) ~= nil
  if not t.xDirty then t.x = nil end
  if due > now then
    F.enterScheduled(t, u, due)
  elseif t.isBlocked or (t.x and t.x.su) then
    F.enterDeferred(t, u)
  else
    F.enterQueue(t, u)
  end
  if state then F.endTask(t, u, state, ending) end
end

function Store.isPlain(item)
  return not item.spec and H.missing == INF
end

-- Who depends on an item of the same call that its key absorbed depends on the task that answered;
-- on nothing, if that is itself.
-- @rare
function Store.resolve(self, deps, answered)
  if not deps or next(answered) == nil then return deps end
  local found, known = {}, {}
  for _, id in ipairs(deps) do
    local other = answered[id] or id
    if not known[other] and other ~= self then found[#found + 1] = other end
    known[other] = true
  end
  return found
end

-- @rare
function Store.note(answered, item, reply)
  if reply.kind == 'existing' and reply.id ~= item.id then answered[item.id] = reply.id end
end

function Store.storeEach(items)
  local replies, answered = {}, {}
  for i = 1, #items do
    local item = items[i]
    if item.spec then item.spec.d = Store.resolve(item.id, item.spec.d, answered) end
    local reply = Store.answerKnown(item)
    if reply then
      Store.note(answered, item, reply)
    else
      local refusal = Store.refuse(item) or (item.spec and Link.cycleOf(item))
      if refusal then
        reply = Store.refused(refusal)
      elseif Store.isPlain(item) then
        Store.storePlain(item)
      else
        Store.settleIn(Store.create(item), item)
      end
    end
    replies[i] = reply and cjson.encode(reply) or 'c'
  end
  return replies
end

-- The first refusal of a batch, and the item that it hits.
-- @rare
function Store.refusalOf(items, batch)
  for i = 1, #items do
    local refusal = Store.refuse(items[i], batch)
    if refusal then return refusal, i end
  end
  for i = 1, #items do
    local refusal = Link.cycleOf(items[i], batch)
    if refusal then return refusal, i end
  end
end

-- @rare
function Store.newBatch()
  return { tasks = {}, keys = {}, waiting = {}, answered = {} }
end

-- A part of a larger batch, which may name tasks of the other parts; `write` false only looks.
-- @rare
function Store.storePart(items, write)
  local batch = Store.newBatch()
  for id, user in pairs(Store.users) do batch.tasks[id] = { user = user, elsewhere = true } end
  for i = 1, #items do batch.tasks[items[i].id] = items[i] end
  local refusal, at_ = Store.refusalOf(items, batch)
  if refusal then
    Store.refusedPart = true
    return Store.refuseAll(items, refusal, at_)
  end
  return write and Store.storeBatch(items) or {}
end

-- @rare
function Store.refuseAll(items, refusal, at_)
  local replies = {}
  for i = 1, #items do
    replies[i] = cjson.encode(Store.refused(i == at_ and refusal or { type = 'batch-refused' }))
  end
  return replies
end

-- @rare
function Store.storeAll(items)
  local batch = Store.newBatch()
  local plain = true
  for i = 1, #items do
    batch.tasks[items[i].id] = items[i]
    if not Store.isPlain(items[i]) then plain = false end
  end
  local refusal, at_ = Store.refusalOf(items, batch)
  if refusal then return Store.refuseAll(items, refusal, at_) end
  if plain then return Store.storeEach(items) end
  return Store.storeBatch(items)
end

-- Every record is made before any is linked, since edges may point forward.
-- @rare
function Store.storeBatch(items)
  local replies, new, answered = {}, {}, {}
  for i = 1, #items do
    local reply = Store.answerKnown(items[i])
    if reply then
      Store.note(answered, items[i], reply)
    else
      new[#new + 1] = { Store.create(items[i]), items[i] }
    end
    replies[i] = reply or 'c'
  end
  for i = 1, #new do
    local t = new[i][1]
    t.x.d = Store.resolve(t.id, t.x.d, answered)
    if t.x.d and #t.x.d == 0 then t.x.d = nil end
    Store.settleIn(t, new[i][2])
  end
  for i = 1, #replies do
    local reply = replies[i]
    if reply ~= 'c' then
      -- An item that was answered by another of its batch is told where that one stands now.
      if reply.kind == 'existing' then reply.state = F.taskOf(reply.id).state end
      replies[i] = cjson.encode(reply)
    end
  end
  return replies
end
