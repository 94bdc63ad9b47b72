-- Whose tasks a task may depend on: the twin of domain/dependency-edge.ts.

-- A run that was suspended for others waits for just these.
function Suspend.waitsFor(t, id)
  return t.optional and t.optional.suspendedFor and F.contains(t.optional.suspendedFor, id) or false
end

function F.contains(list, id)
  for i = 1, #list do
    if list[i] == id then return true end
  end
  return false
end

-- Whether it may come to depend on a task of this user.
function Deps.mayDependOn(t, user)
  return t.optional.policies and t.optional.policies[4] or F.fixed(t).user == user
end

-- Where it waits for an id that is missing: the pair of the id and of who would have to store it, ''
-- for any user.
function Deps.missingOf(t, id)
  return K.pair(id, t.optional.policies and t.optional.policies[4] and '' or F.fixed(t).user)
end

-- The task that one of its dependencies is; false when none is stored, or only another user's that it
-- may not depend on.
function Deps.upstreamOf(t, id)
  local upstream = F.taskOf(id)
  if not upstream or Suspend.waitsFor(t, id) then return upstream end
  return Deps.mayDependOn(t, F.fixed(upstream).user) and upstream
end
