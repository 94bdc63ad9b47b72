-- Checks new tasks and stores them. All checks of an atomic batch come before its first write.

-- What this call has written; names: whether any id was known before, ids that it made, those of
-- them that belong to a submission, and the moment of creation as text.
Store.wrote, Store.anyKnown, Store.made, Store.kept = false, true, {}, {}
Store.submission, Store.users, Store.named, Store.fenced = false, false, false, false
Store.refusedPart, Store.refusal = false, nil

-- The tasks of the call, as records in the making; ARGV is as lib/steps/store-many.lua says.
function Store.readItems(from)
  local counts = F.remembered(ARGV[from], F.countsOf)
  local n, first, items, ids, i = counts.n, from + 2 * counts.groups, {}, {}, 0
  for g = 1, counts.groups do
    local user, queueName = ARGV[from + 2 * g - 1], ARGV[from + 2 * g]
    for _ = 1, counts.sizes[g] do
      i = i + 1
      local blob = ARGV[first + n + i]
      ids[i] = ARGV[first + i]
      items[i] = { id = ids[i], user = user, queueName = queueName, blob = blob,
        recordText = string.format('%013.0f%012x', now, F.stamp()) .. blob }
    end
  end
  for at_ = first + 2 * n + 1, #ARGV, 2 do
    local place = ARGV[at_] + 0
    local item = items[place]
    local kind, more = string.byte(item.blob, 2) - BYTE.zero, ARGV[at_ + 1]
    if kind % (2 * FLAG.kind.long) == 1 and not item.long then
      item.long = more
    else
      item.owned, item.owner = packedOwner(more)
      if not item.owned then item.spec = cjson.decode(more) end
    end
  end
  local known = false
  for i = 1, n, LIMIT.commandValues do
    local stored = redis.call('HMGET', K.tasks(), unpack(ids, i, math.min(n, i + (LIMIT.commandValues - 1))))
    for j = 1, #stored do known = known or stored[j] end
  end
  Store.anyKnown = known
  return items
end

function Store.existingTask(item)
  if not Store.anyKnown and not Store.made[item.id] then return false end
  return F.taskOf(item.id)
end

-- Fills in what only some checks look at.
function Store.complete(item)
  if item.created then return item end
  local user = item.user
  F.fixed(item)
  item.user = user
  item.payload = item.long or string.sub(item.recordText, item.body)
  local spec = item.spec
  if spec then
    item.optional = { waitsOn = spec.waitsOn, policies = spec.policies, keySpec = spec.keySpec, isJoin = spec.isJoin,
      ownerRun = spec.ownerRun, graphHash = spec.graphHash }
  elseif item.owner then
    item.optional = { ownerRun = item.owner }
  end
  return item
end

function Store.agrees(t, item)
  F.fixed(t)
  Store.complete(item)
  if t.user ~= item.user or t.name ~= item.name then return false end
  if t.optional and t.optional.payloadDigest then return redis.sha1hex(item.payload) == t.optional.payloadDigest end
  return F.payloadOf(t) == item.payload
end

function Store.refused(refusal)
  return { kind = 'refused', refusal = refusal }
end

-- Whether the lease is in force that the call is made for: '<token> NUL <id>'.
function Store.isFenced(fence)
  local stop = string.find(fence, '\0', 1, true)
  local t = F.taskOf(string.sub(fence, stop + 1))
  Store.fenced = t and t.state == 'started' and t.token == string.sub(fence, 1, stop - 1)
  return Store.fenced
end

function Store.loseLease(items)
  local replies = {}
  for i = 1, #items do replies[i] = cjson.encode(Store.refused({ type = 'lease-lost' })) end
  return F.unchanged(replies)
end

-- A batch that is sent again after its client had died takes what is stored of it already.
function Store.takeOver(t)
  local mine = Store.submission
  if not mine or not t.optional or not t.optional.batchId or t.optional.batchId == mine then return end
  t.optional.batchId, Store.wrote = mine, true
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
  if not item.spec or not item.spec.keySpec then return end
  local key = Key.rememberedKey(Store.complete(item))
  if not key then return end
  if Key.hasAbsorbed(key, item.id) then return Key.existing(key.followerId or key.ownerId, false, false) end
  if not Key.holds(key) then return end
  local reply = Key.answerByKey(key, item)
  if reply then
    Key.absorb(key, item, reply)
    Store.wrote = true
  end
  return reply
end

-- Whether the key lets the item in (true, 'follows'), answers for another or refuses it (false).
function Store.byKey(item, batch)
  if not item.spec or not item.spec.keySpec then return true end
  Store.complete(item)
  local spec = item.optional.keySpec
  local name = K.key(item.queueName, item.user, spec.key)
  local holder = batch and batch.keys[name]
  if holder then
    if spec.policy == 'reject' then return false, { type = 'key-taken', key = spec.key, id = holder.owner } end
    batch.answered[item.id] = spec.policy == 'run-once-more' and holder.follower or holder.owner
    return false
  end
  local key = Key.rememberedKey(item)
  if key then
    if Key.hasAbsorbed(key, item.id) then
      if batch then batch.answered[item.id] = key.followerId or key.ownerId end
      return false
    end
    if Key.holds(key) then
      local reply = Key.answerByKey(key, item)
      if reply and reply.refusal then return false, reply.refusal end
      if not reply and Window.is(spec) then return true end
      if batch and reply then batch.answered[item.id] = reply.id end
      if reply then return false end
      if batch then batch.keys[name] = { owner = key.ownerId, follower = item.id } end
      return 'follows'
    end
  end
  if batch then batch.keys[name] = { owner = item.id } end
  return true
end

function Store.byLimit(item, batch)
  local u = F.userOf(F.queueOf(item.queueName), item.user)
  if Store.fenced or not u.set.maxQueued then return end
  local scope = K.pair(item.queueName, item.user)
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
  if item.spec and item.spec.keySpec then new, refusal = Store.byKey(item, batch) end
  if not new then return refusal end
  -- A follower stands for calls that were accepted already.
  refusal = new ~= 'follows' and Store.byLimit(item, batch) or nil
  if refusal or not item.spec then return refusal end
  if item.spec.graphHash and not Graphs.isAlive(item.spec.graphHash) then
    return { type = 'graph-missing', hash = item.spec.graphHash }
  end
  if not item.spec.waitsOn then return end
  Store.complete(item)
  return Link.check(item, batch and batch.tasks)
end

-- A task without other facts than its run goes straight to the end of its user's line.
function Store.storePlainTask(item)
  local id, blob = item.id, item.blob
  local queue = F.queueOf(item.queueName)
  local u = F.userOf(queue, item.user)
  storeText(id, item.recordText, item.long, item.owned)
  Store.wrote, Store.made[id] = true, true
  tasks[id] = nil
  local level = string.byte(blob) - BYTE.zero
  if u.queued == 0 then F.began(u) end
  u.live = u.live + 1
  u.queued = u.queued + 1
  u.cnt[level] = u.cnt[level] + 1
  queue.enqueued = queue.enqueued + 1
  queue.counts.queued = queue.counts.queued + 1
  redis.call('RPUSH', F.lineKey(u, level), id)
  F.reindex(u)
end

-- Puts those of one list into the other, and drops it.
function Store.merge(few, many)
  local rows = redis.call('ZRANGE', few, 0, -1, 'WITHSCORES')
  for i = 1, #rows, 2 do F.zset(many, rows[i], rows[i + 1]) end
  F.flushKey(many)
  redis.call('DEL', few)
end

-- Makes one list of those that waited for the id, for any user's or for this user's; false
-- when there are none.
function Store.takeWaiters(t)
  local any, own = K.missing(K.pair(t.id, '')), K.missing(K.pair(t.id, t.user))
  F.flushKey(any)
  F.flushKey(own)
  local anys, owns = redis.call('ZCARD', any), redis.call('ZCARD', own)
  if anys + owns == 0 then return false end
  if anys > 0 and owns > 0 then
    Store.merge(anys < owns and any or own, anys < owns and own or any)
  end
  redis.call('RENAME', anys >= owns and any or own, K.waiting(t.id))
  return true
end

-- Those that waited for an id that was not stored wait for a task now. Others than those whose
-- edges may lead to its user are not looked at.
function Store.adoptWaiters(t)
  if H.missing == INF and not (Store.named and Store.named[t.id]) then return end
  if not Store.takeWaiters(t) then return end
  F.flushIndex('missing')
  for _, from in ipairs({ '', t.user }) do
    local pair = K.pair(t.id, from)
    if redis.call('ZSCORE', K.index('missing'), pair) then
      F.move('missing', pair, false)
      t.isAwaited = true
    end
  end
  F.markDependents(t)
  for _, id in ipairs(redis.call('ZRANGE', K.waiting(t.id), 0, (LIMIT.rewaitedAtOnce - 1))) do
    local waiter = F.taskOf(id)
    if waiter then Deps.rewait(waiter) end
  end
end

-- Makes the record; it stands nowhere yet.
function Store.create(item)
  Store.complete(item)
  local u = F.userOf(F.queueOf(item.queueName), item.user)
  local t = F.newTask(item.id, item.recordText)
  t.user, t.queueName, t.state = item.user, item.queueName, 'deferred'
  F.fixed(t)
  local x = item.optional or {}
  t.optional = { waitsOn = x.waitsOn, policies = x.policies, keyName = x.keySpec and x.keySpec.key,
    batchId = Store.submission or nil, isJoin = x.isJoin, ownerRun = x.ownerRun, graphHash = x.graphHash }
  if x.graphHash then Graphs.hold(x.graphHash, t.id) end
  if Store.submission then Store.kept[#Store.kept + 1] = t.id end
  tasks[t.id], Store.made[t.id], Store.wrote = t, true, true
  t.textChanged, t.long = true, item.long
  if item.long then redis.call('HSET', K.payloads(), t.id, item.long) end
  local key = Key.rememberedKey(item)
  if key and Key.holds(key) and not Window.is(x.keySpec) then
    t.optional.waitsOn = t.optional.waitsOn or {}
    t.optional.policies = t.optional.policies or { 'wait', 'cancel', 'refuse', false }
    t.optional.policies[1], t.optional.policies[2] = 'run', 'run'
    if not F.contains(t.optional.waitsOn, key.ownerId) then table.insert(t.optional.waitsOn, key.ownerId) end
    key.followerId, key.dirty = t.id, true
  elseif x.keySpec then
    Key.takeKey(item, t)
  end
  if t.optional.waitsOn and #t.optional.waitsOn == 0 then t.optional.waitsOn = nil end
  u.live = u.live + 1
  u.queue.enqueued = u.queue.enqueued + 1
  Store.adoptWaiters(t)
  return t
end

-- Links the dependencies and puts the task where it belongs.
function Store.settleIn(t, item)
  local u, spec = F.ownerOf(t), item.spec or {}
  local due = item.due or spec.at or now + math.max(0, spec.delay or 0)
  local state, ending
  if t.optional.waitsOn then state, ending = Link.link(t) end
  if spec.expires then
    if spec.startWithin then t.optional.startWithin = spec.expires end
    if not (spec.startWithin and t.isBlocked) then
      t.optional.startUntil = math.max(now, due) + spec.expires
      F.setDeadline(t)
    end
  end
  if next(t.optional) == nil then t.optional = nil end
  local waits = t.isBlocked or (t.optional and t.optional.batchId)
  if due > now then
    F.enterScheduled(t, u, due)
  elseif waits or (t.optional and t.optional.isJoin) then
    F.enterDeferred(t, u)
    if not waits then state, ending = 'finished', { result = 'null' } end
  else
    F.enterQueue(t, u, true)
  end
  if state then F.endTask(t, u, state, ending) end
end

function Store.isPlainTask(item)
  return not item.spec and H.missing == INF
end

-- Who depends on an item of the same call that its key absorbed depends on the task that answered;
-- on nothing, if that is itself, or has finished and is gone (''; see Store.note).
function Store.resolve(self, deps, answered)
  if not deps or next(answered) == nil then return deps end
  local found, known = {}, {}
  for _, id in ipairs(deps) do
    local other = answered[id] or id
    if not known[other] and other ~= self and other ~= '' then found[#found + 1] = other end
    known[other] = true
  end
  return found
end

function Store.note(answered, item, reply)
  if reply.kind ~= 'existing' then return end
  if reply.state == 'finished' and not F.taskOf(reply.id) then
    answered[item.id] = ''
  elseif reply.id ~= item.id then
    answered[item.id] = reply.id
  end
end

function Store.stopAt(replies, from, to, refusal)
  for i = from, to do replies[i] = cjson.encode(Store.refused(refusal)) end
  return replies
end

function Store.storeEach(items)
  local replies, answered = {}, {}
  for i = 1, #items do
    local item = items[i]
    if item.spec then
      item.spec.waitsOn = Store.resolve(item.id, item.spec.waitsOn, answered)
      -- It was completed before when something had to expire first.
      if item.optional then item.optional.waitsOn = item.spec.waitsOn end
    end
    local reply = Store.answerKnown(item)
    if reply then
      Store.note(answered, item, reply)
    else
      local refusal = Store.refuse(item) or (item.spec and Link.cycleOf(item))
      if refusal then
        reply = Store.refused(refusal)
        -- One script cannot tell: nothing behind it is looked at, which may depend on it.
        if refusal.type == 'dependency-limit' then return Store.stopAt(replies, i, #items, refusal) end
      elseif Store.isPlainTask(item) then
        Store.storePlainTask(item)
      else
        Store.settleIn(Store.create(item), item)
      end
    end
    replies[i] = reply and cjson.encode(reply) or 'c'
  end
  return replies
end
