-- Decides what an idempotency key answers to a new task, and remembers which calls it answered.
-- @include lib/window.lua
-- @rare

-- How the owners of keys ended whose records are removed, by id.
Key.gone = {}

-- The key as it is remembered, also when it no longer holds.
function Key.rememberedKey(item)
  local spec = item.x and item.x.i
  if not spec then return end
  local key = F.keyState(item.queue, item.user, spec.key)
  if not key.o then return end
  local byTime = key.u and now < key.u
  local known = byTime and key.g or not key.g and F.taskOf(key.o)
  local over = key.e and now > key.e + LIMIT.resendMs
  if known and (byTime or not over) then
    Key.gone[key.o] = key.g
    return key
  end
  key.o = nil
  key.dirty = true
end

function Key.holds(key)
  if key.u then return now < key.u end
  -- Not by the owner's state: a redrive does not take the key back.
  return not key.e
end

function Key.hasAbsorbed(key, id)
  for _, other in ipairs(key.a) do
    if other == id then return true end
  end
  return false
end

function Key.takeKey(item, t)
  local spec = item.x.i
  local key = F.keyState(item.queue, item.user, spec.key)
  local window = Window.is(spec) and Window.opened(key, spec)
  if window then
    -- A resend of a call that an earlier owner has answered is no new call.
    key.u, key.n, item.due = window.till, window.from, window.due
  else
    key.u, key.n, key.a = spec.ttl and now + spec.ttl or nil, nil, {}
  end
  key.o, key.f, key.p, key.e, key.g = t.id, nil, redis.sha1hex(item.payload), nil, nil
  key.dirty = true
end

-- The id of a removed owner may have been given to another task since.
function Key.existing(id, conflict, replaced)
  local t = F.taskOf(id)
  return { kind = 'existing', id = id, state = t and t.state or Key.gone[id], conflict = conflict,
    replaced = replaced }
end

-- What a key that holds answers to another task; nil: the task becomes its follower, or its next
-- owner when it gathers calls.
function Key.answerByKey(key, item)
  local policy = item.x.i.policy
  if policy == 'reject' then
    return { kind = 'refused', refusal = { type = 'key-taken', key = key.key, id = key.o } }
  end
  local conflict = redis.sha1hex(item.payload) ~= key.p
  local state = key.g or F.taskOf(key.o).state
  if policy == 'return' then return Key.existing(key.o, conflict, false) end
  if Window.is(item.x.i) then
    local kind = Window.step(key, item.x.i)
    return kind ~= 'new' and Key.existing(key.o, conflict, kind == 'replace') or nil
  end
  if state ~= 'started' and not F.isEnd(state) then return Key.existing(key.o, conflict, true) end
  if policy == 'replace-queued' or state ~= 'started' then
    return Key.existing(key.o, conflict, false)
  end
  if key.f then return Key.existing(key.f, conflict, true) end
end

-- Puts another input into a task that has not started.
function Key.replaceInput(t, item)
  t.x = t.x or {}
  t.x.fp = F.firstDigest(t)
  F.change(t)
  local head = string.sub(F.fixed(t).f, 1, t.optionsAt - 1)
  t.f = head .. string.sub(item.f, item.optionsAt, item.body - 1)
    .. (item.long and '' or item.payload)
  t.created = nil
  F.fixed(t)
  t.long = item.long
  F.setKind(t, t.kind - t.kind % 2 + (item.long and 1 or 0))
  t.textChanged = true
  if item.long then redis.call('HSET', K.payloads(), t.id, item.long) end
end

-- Remembers the id of a call that the key answered, and swaps the input where the answer says so.
function Key.absorb(key, item, reply)
  if reply.kind ~= 'existing' then return end
  if not Key.hasAbsorbed(key, item.id) then table.insert(key.a, item.id) end
  if #key.a > LIMIT.absorbed then table.remove(key.a, 1) end
  key.dirty = true
  if not reply.replaced then return end
  local t = F.taskOf(reply.id)
  local _, due
  if Window.is(item.x.i) then _, due = Window.step(key, item.x.i) end
  Key.replaceInput(t, item)
  if due then
    Window.move(t, due)
    reply.state = t.state
  end
end
