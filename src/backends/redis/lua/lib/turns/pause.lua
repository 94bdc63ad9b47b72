-- Runs that are paused: whose turn comes is set aside, until that is over.

-- The run whose pause keeps a task from its start: itself, or one further up. Owners may be a circle.
function Pause.runOf(t)
  for _ = 1, LIMIT.graphDepth do
    local x = t and t.optional
    if not x then return nil end
    if x.pausedSince then return t end
    local up = x.pausedBy or x.ownerRun
    t = up and F.taskOf(up)
  end
end

-- Whether it was suspended to decide, and has not yet: a pause leaves it in line, and it is leased.
function Pause.mayDecide(t)
  local after = t.optional.decidesAfter
  return after ~= nil and after == (t.isSettled and t.token or t.changing and t.changing.settledToken)
end

-- A queued task waits for the end of the pause of a run, and keeps its place in line for that.
function Pause.setAside(t, u, run)
  t.seq = F.placeOf(t)
  F.leave(t, u)
  F.enterDeferred(t, u)
  t.optional.asideFor, run.optional.hasAside = run.id, true
  F.change(run)
  F.zset(K.aside(run.id), t.id, F.fixed(t).stamp)
  F.reindex(u)
end

-- A task that ends is held by no run; one that can be put back stays paused.
function Pause.leave(t, state)
  local x = t.optional
  if x.asideFor then F.zset(K.aside(x.asideFor), t.id, false) end
  x.asideFor = nil
  if state ~= 'failed' then x.pausedSince, x.pauseReason = nil, nil end
end

-- Puts up to `most` back whom a run has set aside; when it is gone for good, they have nothing left to be started for.
-- Says how many, and whether some are left.
function Pause.letGo(run, most, isOver)
  local key = K.aside(run.id)
  F.flushKey(key)
  local ids = redis.call('ZRANGE', key, 0, most)
  for i = 1, math.min(#ids, most) do
    F.zset(key, ids[i], false)
    local t = F.taskOf(ids[i])
    if t and t.optional and t.optional.asideFor == run.id then
      local u = F.ownerOf(t)
      t.optional.asideFor = nil
      if isOver then
        F.endTask(t, u, 'canceled', { cause = cjson.encode({ type = 'run-ended', run = run.id }) })
      else
        F.leave(t, u)
        F.enterQueue(t, u)
      end
    end
  end
  if #ids > most then return most, true end
  run.optional.hasAside = nil
  F.change(run)
  return #ids, false
end
