-- Whether a task that others wait for closes a cycle: the twin of domain/cycle-search.ts, as far as one
-- script goes. `self` is the task that is to get edges: its id, user and deps, and the batch that it is
-- of, as of `Store.newBatch`.

-- How many edges this step has followed.
Link.spent = 0

-- The item of the batch that is about to be stored under an id; none when a key answers for it.
function Link.itemOf(id, self)
  local batch = self.batch
  return batch and not batch.answered[id] and not F.taskOf(id) and batch.tasks[id] or nil
end

-- Whether an edge of a stored task leads to one that has not ended, or is about to be stored.
function Link.leadsTo(t, id, self)
  if id == self.id then return Deps.mayDependOn(t, self.user) end
  local item = Link.itemOf(id, self)
  if item then return Deps.mayDependOn(t, item.user) end
  local upstream = Deps.upstreamOf(t, id)
  return upstream and not F.isEnd(upstream.state)
end

-- Whom a task waits for, or will once its batch is stored.
function Link.upstreamsOf(id, self)
  if id == self.id then return self.deps end
  local t = F.taskOf(id)
  if not t then
    local item = Link.itemOf(id, self)
    return item and item.spec and Store.resolve(id, item.spec.waitsOn, self.batch.answered) or NONE
  end
  if F.isEnd(t.state) then return NONE end
  local ids, found = redis.call('SMEMBERS', K.blocked(id)), {}
  table.sort(ids, F.before)
  for _, other in ipairs(ids) do
    if Link.leadsTo(t, other, self) then found[#found + 1] = other end
  end
  return found
end

-- Who waits for a task; false when these are too many to follow, or of a batch.
function Link.dependentsOf(id, self)
  if self.batch then return false end
  local keys, found = { K.waiting(id), K.awaitingRedrive(id) }, {}
  if not F.taskOf(id) then
    keys = { K.missing(K.pair(id, '')), K.missing(K.pair(id, self.user or '')) }
  end
  local size = 0
  for _, key in ipairs(keys) do
    F.flushKey(key)
    local ids = redis.call('ZRANGE', key, 0, LIMIT.cycleFan)
    size = size + #ids
    if size > LIMIT.cycleFan then return false end
    for _, other in ipairs(ids) do
      local t = F.taskOf(other)
      if t and not F.isEnd(t.state) then found[#found + 1] = other end
    end
  end
  -- Its own edges are not there yet.
  if self.deps and F.contains(self.deps, id) then found[#found + 1] = self.id end
  return found
end

function Link.walk(edgesOf, id)
  return { edgesOf = edgesOf, open = { id }, from = {}, at = 0, edges = 0, over = false }
end

-- Follows the edges of the next task of a walk; the path of a cycle, or 'none' at its end.
function Link.step(walk, self)
  walk.at = walk.at + 1
  local id = walk.open[walk.at]
  if not id then return 'none' end
  local ids = walk.edgesOf(id, self)
  walk.edges = walk.edges + (ids and #ids or 0)
  Link.spent = Link.spent + (ids and #ids or 0)
  if ids and F.contains(ids, self.id) then return Link.pathBack(walk, id, self.id) end
  walk.over = not ids or walk.edges > LIMIT.cycleStep
  if walk.over then return end
  for _, other in ipairs(ids) do
    if not walk.from[other] then
      walk.from[other] = id
      walk.open[#walk.open + 1] = other
    end
  end
end

-- From `id` back to the task that was begun with, in the order of waiting.
function Link.pathBack(walk, id, self)
  local back, path = { self }, {}
  while id do
    back[#back + 1] = id
    if id == self then break end
    id = walk.from[id]
  end
  if walk.edgesOf ~= Link.upstreamsOf then return back end
  for i = #back, 1, -1 do path[#path + 1] = back[i] end
  return path
end

-- Why it must not get its edges, if one script can tell; else that it cannot. Of several in one script
-- only the first ones are looked at, while these have not cost much.
function Link.closes(self)
  if Link.spent > LIMIT.cycleStep then
    return { type = 'dependency-limit', limit = LIMIT.cycleStep }
  end
  local walks = { Link.walk(Link.upstreamsOf, self.id), Link.walk(Link.dependentsOf, self.id) }
  while not (walks[1].over and walks[2].over) do
    for i = 1, 2 do
      local found = not walks[i].over and Link.step(walks[i], self)
      if found == 'none' then return end
      if found then return { type = 'cycle', path = found } end
    end
  end
  return { type = 'dependency-limit', limit = LIMIT.cycleStep }
end
