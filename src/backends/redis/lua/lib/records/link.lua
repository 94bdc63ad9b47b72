-- Checks the dependencies of new tasks and registers them.

-- Why the dependencies of an item rule it out, if they do; `batch` holds the items by id.
function Link.check(item, batch)
  local g = item.optional and item.optional.policies
  for _, id in ipairs(item.optional and item.optional.waitsOn or {}) do
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

-- A task that others wait for already may not wait for one of them, however far away. Of a batch that
-- is stored in parts that is asked when all of it is there.
function Link.cycleOf(item, batch)
  local deps = item.spec and item.spec.waitsOn
  if not deps then return end
  if F.contains(deps, item.id) then return { type = 'cycle', path = { item.id, item.id } } end
  if H.missing == INF or Store.submission or not Link.isNew(item, batch) then return end
  -- An item of this call may have begun to wait for it.
  local any, own = K.missing(K.pair(item.id, '')), K.missing(K.pair(item.id, item.user))
  F.flushKey(any)
  F.flushKey(own)
  if redis.call('EXISTS', any, own) == 0 then return end
  return Link.closesIn(item, batch)
end

-- It is going to be stored, and no key answers for it.
function Link.isNew(item, batch)
  return not F.taskOf(item.id) and not (batch and batch.answered[item.id])
end

function Link.closesIn(item, batch)
  local deps = item.spec.waitsOn
  if batch then deps = Store.resolve(item.id, deps, batch.answered) end
  return Link.closes({ id = item.id, user = item.user, deps = deps, batch = batch })
end

-- Registers a new task with its dependencies. One that has ended otherwise than well may end it
-- at once: then the state, and how it ends.
function Link.link(t)
  local state, ending
  local blocks = {}
  for _, id in ipairs(t.optional.waitsOn) do
    local upstream = Deps.upstreamOf(t, id)
    if not upstream then
      if Store.users and Store.users[id] then
        blocks[#blocks + 1] = id
        Deps.listenMissing(t, id)
      elseif t.optional.policies[3] == 'satisfied' then
        t.optional.assumed = t.optional.assumed or {}
        table.insert(t.optional.assumed, id)
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
