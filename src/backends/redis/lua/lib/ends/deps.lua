-- Registers that a task waits for another, or for an id that is not stored.

-- It hears of the end of a task; the caller adds the id to those that block it.
function Deps.listen(t, id)
  F.zset(K.waiting(id), t.id, F.fixed(t).stamp)
  t.isBlocked = true
end

-- It hears of the task that is stored under the id. Those that wait for what another part of their batch is
-- going to store are not told to be waiting in vain.
function Deps.listenMissing(t, id)
  F.zset(K.missing(Deps.missingOf(t, id)), t.id, F.fixed(t).stamp)
  t.isBlocked = true
end

function Deps.awaitMissing(t, id)
  Deps.listenMissing(t, id)
  -- One score for all, so that those of one id stand together.
  F.put('missing', Deps.missingOf(t, id), 1)
  Cascade.waitFor(t)
end

function Deps.blockByMissing(t, id)
  redis.call('SADD', K.blocked(t.id), id)
  Deps.awaitMissing(t, id)
end

function Deps.blockBy(t, upstream)
  redis.call('SADD', K.blocked(t.id), upstream.id)
  Deps.listen(t, upstream.id)
  F.markDependents(upstream)
end

-- Lifts the limit of a wait when all that a task waits for can end by itself again.
function Deps.rewait(t)
  if not (t.optional and t.optional.waitUntil) then return end
  for _, id in ipairs(redis.call('SMEMBERS', K.blocked(t.id))) do
    local upstream = Deps.upstreamOf(t, id)
    if not upstream or F.isEnd(upstream.state) then return end
  end
  t.optional.waitUntil = nil
  F.setDeadline(t)
end
