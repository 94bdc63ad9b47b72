-- Checks the dependencies of new tasks and registers them.
-- @rare

local CYCLE_EDGES = 500

-- Why the dependencies of an item rule it out, if they do; `batch` holds the items by id.
function Link.check(item, batch)
  local g = item.x and item.x.g
  for _, id in ipairs(item.x and item.x.d or {}) do
    local other = batch and batch[id]
    local upstream = not other and F.taskOf(id)
    if upstream and not g[4] then F.fixed(upstream) end
    other = other or upstream
    if not other then
      if g[3] == 'refuse' then return { type = 'unknown-dependency', dependency = id } end
    elseif other.user ~= item.user and not g[4] then
      return { type = 'cross-user', dependency = id }
    end
  end
end

function Link.pathTo(id, last, cameFrom)
  local path, at = { id }, last
  while at and at ~= id do
    table.insert(path, 1, at)
    at = cameFrom[at]
  end
  table.insert(path, 1, id)
  return path
end

-- What a task waits for, or will once its batch is stored.
function Link.waitsFor(id, batch)
  local other = batch and batch.answered[id]
  local item = batch and batch.tasks[id]
  if not item or F.taskOf(id) then
    local blocked = redis.call('SMEMBERS', K.blocked(id))
    table.sort(blocked, F.before)
    return blocked
  end
  return other and { other } or item.spec and item.spec.d or {}
end

-- A task that others wait for already may not wait for one of them, however far away.
function Link.cycleOf(item, batch)
  local deps = item.spec and item.spec.d
  if not deps then return end
  for _, id in ipairs(deps) do
    if id == item.id then return { type = 'cycle', path = { id, id } } end
  end
  if H.missing == INF then return end
  -- An item of this call may have begun to wait for it.
  F.flushKey(K.waiting(item.id))
  if redis.call('EXISTS', K.waiting(item.id)) == 0 then return end
  if F.taskOf(item.id) then return end
  local open, cameFrom, edges, at_ = {}, {}, 0, 1
  for i, id in ipairs(deps) do open[i] = { id, item.id } end
  while open[at_] do
    local id, from = open[at_][1], open[at_][2]
    at_ = at_ + 1
    if id == item.id then return { type = 'cycle', path = Link.pathTo(id, from, cameFrom) } end
    if edges >= CYCLE_EDGES then return { type = 'cycle', path = {} } end
    if not cameFrom[id] then
      cameFrom[id] = from
      for _, up in ipairs(Link.waitsFor(id, batch)) do open[#open + 1] = { up, id } end
    end
    edges = edges + 1
  end
end

-- Registers a new task with its dependencies. One that has ended otherwise than well may end it
-- at once: then the state, and how it ends.
function Link.link(t)
  local state, ending
  local blocks = {}
  for _, id in ipairs(t.x.d) do
    local upstream = F.taskOf(id)
    if not upstream then
      if Store.users and Store.users[id] then
        blocks[#blocks + 1] = id
        Deps.listen(t, id)
      elseif t.x.g[3] == 'satisfied' then
        t.x.m = t.x.m or {}
        table.insert(t.x.m, id)
      else
        Deps.blockByMissing(t, id)
      end
    elseif not F.isEnd(upstream.state) then
      blocks[#blocks + 1] = id
      Deps.listen(t, id)
      F.markDependents(upstream)
    else
      local policy = Cascade.policyFor(upstream, t)
      if policy == 'run' then
        F.addReader(upstream, 1)
      else
        blocks[#blocks + 1] = id
        t.isBlocked = true
        if policy == 'wait' then
          Cascade.hold(upstream, t)
        elseif not state then
          state = policy == 'cancel' and 'canceled' or 'failed'
          ending = { cause = Cascade.causeOf(id, upstream.state) }
        end
      end
    end
  end
  if #blocks > 0 then redis.call('SADD', K.blocked(t.id), unpack(blocks)) end
  return state, ending
end
