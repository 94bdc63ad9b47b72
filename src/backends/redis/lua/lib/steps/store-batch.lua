-- Stores batches: all or none, in one script or as a part of a larger one.

-- The first refusal of a batch, and the item that it hits.
function Store.refusalOf(items, batch)
  for i = 1, #items do
    local refusal = Store.refuse(items[i], batch)
    if refusal then return refusal, i end
  end
  for i = 1, #items do
    local refusal = Link.cycleOf(items[i], batch)
    if refusal then return refusal, i end
  end
  -- Items may have come to wait for each other since keys answer for some of them.
  if Store.submission or next(batch.answered) == nil then return end
  for i = 1, #items do
    local item = items[i]
    local refusal = item.spec and item.spec.waitsOn and Link.isNew(item, batch)
      and Link.closesIn(item, batch)
    if refusal then return refusal, i end
  end
end

function Store.newBatch()
  return { tasks = {}, keys = {}, waiting = {}, answered = {} }
end

-- A part of a larger batch, which may name tasks of the other parts; `write` false only looks.
function Store.storePart(items, write)
  local batch = Store.newBatch()
  for id, user in pairs(Store.users) do batch.tasks[id] = { user = user, elsewhere = true } end
  -- Of several with one id the first is stored; the others have to be like it.
  for i = #items, 1, -1 do batch.tasks[items[i].id] = items[i] end
  local refusal, at_ = Store.refusalOf(items, batch)
  if refusal then
    Store.refusedPart = true
    return Store.refuseAll(items, refusal, at_)
  end
  return write and Store.storeBatch(items) or {}
end

function Store.refuseAll(items, refusal, at_)
  local replies = {}
  for i = 1, #items do
    replies[i] = cjson.encode(Store.refused(i == at_ and refusal or { type = 'batch-refused' }))
  end
  return replies
end

function Store.storeAll(items)
  local batch = Store.newBatch()
  local arePlainTasks = true
  for i = #items, 1, -1 do
    batch.tasks[items[i].id] = items[i]
    if not Store.isPlainTask(items[i]) then arePlainTasks = false end
  end
  local refusal, at_ = Store.refusalOf(items, batch)
  Store.refusal = refusal
  if refusal then return Store.refuseAll(items, refusal, at_) end
  if arePlainTasks then return Store.storeEach(items) end
  return Store.storeBatch(items)
end

-- What is told of a new task: 'w' when others waited for it, so that a part cannot tell whether it closes
-- a cycle.
function Store.wordOf(t)
  return Store.submission and t.isAwaited and 'w' or 'c'
end

-- Every record is made before any is linked, since edges may point forward.
function Store.storeBatch(items)
  local replies, new, answered = {}, {}, {}
  for i = 1, #items do
    local reply = Store.answerKnown(items[i])
    if reply then
      Store.note(answered, items[i], reply)
    else
      new[#new + 1] = { Store.create(items[i]), items[i] }
    end
    replies[i] = reply or Store.wordOf(new[#new][1])
  end
  for i = 1, #new do
    local t = new[i][1]
    t.optional.waitsOn = Store.resolve(t.id, t.optional.waitsOn, answered)
    if t.optional.waitsOn and #t.optional.waitsOn == 0 then t.optional.waitsOn = nil end
    Store.settleIn(t, new[i][2])
  end
  for i = 1, #replies do
    local reply = replies[i]
    if type(reply) == 'table' then
      -- An item that was answered by another of its batch is told where that one stands now.
      local t = reply.kind == 'existing' and F.taskOf(reply.id)
      if t then reply.state = t.state end
      replies[i] = cjson.encode(reply)
    end
  end
  return replies
end

-- Ends a task whose time to start is over.
function Store.endIfExpired(id)
  local t = id and F.taskOf(id)
  if not t or F.isEnd(t.state) or not F.isExpired(t) then return false end
  F.expire(t, F.ownerOf(t))
  Store.wrote = true
  return true
end

-- What never starts any more holds no key and takes up no room.
function Store.expireFirst(items)
  if H.deadlines > now then return end
  local isLimited = false
  for i = 1, #items do
    local item = Store.complete(items[i])
    local spec = item.optional and item.optional.keySpec
    local key = spec and F.keyState(item.queueName, item.user, spec.key)
    while key and (Store.endIfExpired(key.ownerId) or Store.endIfExpired(key.followerId)) do end
    isLimited = isLimited or F.userOf(F.queueOf(item.queueName), item.user).set.maxQueued
  end
  if not isLimited or Store.fenced then return end
  Tick.expire()
  Store.wrote = true
end

-- Stores tasks one by one: all or none, or each on its own.
function Store.run()
  local atomic, fence = string.sub(ARGV[1], 1, 1) == '1', string.sub(ARGV[1], 2)
  local items = Store.readItems(2)
  if fence ~= '' and not Store.isFenced(fence) then return Store.loseLease(items) end
  Store.expireFirst(items)
  local replies = atomic and Store.storeAll(items) or Store.storeEach(items)
  if not Store.wrote then return F.unchanged(replies) end
  Step.saveTasks()
  F.cascade(LIMIT.cascadeStep)
  F.writeStep()
  F.closeStep()
  return replies
end
