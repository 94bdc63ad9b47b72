-- Registers that a task waits for another, or for an id that nobody has stored.
-- @rare

function Deps.block(t, id)
  redis.call('SADD', K.blocked(t.id), id)
  Deps.listen(t, id)
end

-- It hears of the end; whoever calls this adds the id to those that block it.
function Deps.listen(t, id)
  F.zset(K.waiting(id), t.id, F.fixed(t).created)
  t.isBlocked = true
end

function Deps.blockByMissing(t, id)
  Deps.block(t, id)
  F.put('missing', id, now)
  Cascade.waitFor(t)
end

function Deps.blockBy(t, upstream)
  Deps.block(t, upstream.id)
  F.markDependents(upstream)
end

-- Lifts the limit of a wait when all that a task waits for can end by itself again.
function Deps.rewait(t)
  if not (t.x and t.x.wu) then return end
  for _, id in ipairs(redis.call('SMEMBERS', K.blocked(t.id))) do
    local upstream = F.taskOf(id)
    if not upstream or F.isEnd(upstream.state) then return end
  end
  t.x.wu = nil
  F.setDeadline(t)
end
