-- Sealed submissions: batches that are stored in several scripts. Until the seal each of their
-- tasks is blocked by the submission; the seal releases them in bounded steps. What no call
-- seals in time is undone, last task first.

-- One task of a sealed submission waits for it no more.
function Submission.release(t)
  t.optional.batchId = nil
  F.change(t)
  if not F.isBlocked(t) then F.unblock(t, F.ownerOf(t)) end
end

-- Who waits for a task that is undone waits for a missing one again; false when some are left.
function Submission.letGo(t)
  local key = K.waiting(t.id)
  F.flushKey(key)
  local ids = redis.call('ZRANGE', key, 0, LIMIT.submissionStep)
  for i = 1, math.min(#ids, LIMIT.submissionStep) do
    F.zset(key, ids[i], false)
    local waiter = F.taskOf(ids[i])
    if waiter and not F.isEnd(waiter.state) then Deps.awaitMissing(waiter, t.id) end
  end
  F.flushKey(key)
  return #ids <= LIMIT.submissionStep
end

-- As if the task had never been stored; false when that takes another step.
function Submission.undo(t)
  if t.dependents and not Submission.letGo(t) then return false end
  local u = F.ownerOf(t)
  local queue = u.queue
  F.leave(t, u)
  if F.isEnd(t.state) then
    queue[t.state] = queue[t.state] - 1
  else
    u.live = u.live - 1
  end
  queue.enqueued = queue.enqueued - 1
  if t.inCascade then F.move('cascade', t.id, false) end
  if t.optional.leastDeadline then F.move('deadlines', F.member(t), false) end
  Cascade.leaveWaits(t)
  Cascade.leaveReaders(t)
  local key = t.optional.keyName and F.keyState(queue.name, u.name, t.optional.keyName)
  if key and key.followerId == t.id then
    key.followerId, key.dirty = nil, true
  elseif key and key.ownerId == t.id then
    key.ownerId, key.dirty = nil, true
  end
  Graphs.drop(t)
  Step.saveTasks()
  Retain.forget(t)
  tasks[t.id] = false
  F.reindex(u)
  return true
end

-- Undoes some of them, the last first; says how many are done with.
function Submission.undoAll(ids, submission)
  for i = #ids, 1, -1 do
    local t = F.taskOf(ids[i])
    if t and t.optional and t.optional.batchId == submission and not Submission.undo(t) then return #ids - i end
  end
  return #ids
end

-- Up to `most` tasks of a submission are released (front first) or undone (back first); true when
-- some are left.
function Submission.step(id, most)
  local key, list = K.submit(id), K.submitted(id)
  local sealed = redis.call('HGET', key, FIELD.submit.sealed)
  if sealed then
    for _, one in ipairs(redis.call('LRANGE', list, 0, most - 1)) do
      local t = F.taskOf(one)
      if t and t.optional and t.optional.batchId == id then Submission.release(t) end
    end
    redis.call('LTRIM', list, most, -1)
  else
    local done = Submission.undoAll(redis.call('LRANGE', list, -most, -1), id)
    redis.call('LTRIM', list, 0, -done - 1)
  end
  if redis.call('EXISTS', list) == 1 then return true end
  F.move('submissions', id, false)
  if sealed then
    redis.call('HSET', key, FIELD.submit.done, '1')
    redis.call('PEXPIRE', key, LIMIT.submissionMs)
  else
    redis.call('DEL', key)
  end
  return false
end

-- Goes on with submissions that are sealed, and undoes those whose time is over.
function Submission.tick(most)
  F.flushIndex('submissions')
  local id = redis.call('ZRANGEBYSCORE', K.index('submissions'), '-inf', now, 'LIMIT', 0, 1)[1]
  if id then Submission.step(id, most) else H.submissions = INF end
  F.flushIndex('submissions')
  return H.submissions <= now
end
