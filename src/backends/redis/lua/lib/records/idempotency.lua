-- Decides what an idempotency key answers to a new task, and remembers which calls it answered.

-- How the owners of keys ended whose records are removed, by id.
Key.gone = {}

-- The key as it is remembered, also when it no longer holds.
function Key.rememberedKey(item)
  local spec = item.optional and item.optional.keySpec
  if not spec then return end
  local key = F.keyState(item.queueName, item.user, spec.key)
  if not key.ownerId then return end
  local byTime = key.holdsUntil and now < key.holdsUntil
  local known = byTime and key.ownerEndedAs or not key.ownerEndedAs and F.taskOf(key.ownerId)
  local over = key.ownerEndedAt and now > key.ownerEndedAt + LIMIT.resendMs
  if known and (byTime or not over) then
    Key.gone[key.ownerId] = key.ownerEndedAs
    return key
  end
  -- The clock may go back.
  Key.pass(key.ownerId)
  key.ownerId = nil
  key.dirty = true
end

function Key.holds(key)
  if key.holdsUntil then return now < key.holdsUntil end
  -- Not by the owner's state: a redrive does not take the key back.
  return not key.ownerEndedAt
end

function Key.hasAbsorbed(key, id)
  for _, other in ipairs(key.absorbedIds) do
    if other == id then return true end
  end
  return false
end

-- A task loses its key before that was to be free: repair does not give it back.
function Key.pass(id)
  local t = id and F.taskOf(id)
  local x = t and t.optional
  if not x or not x.keyName or x.keyPassed or (F.isEnd(t.state) and not x.keyHoldsUntil) then return end
  x.keyPassed = true
  F.change(t)
end

function Key.takeKey(item, t)
  local spec = item.optional.keySpec
  local key = F.keyState(item.queueName, item.user, spec.key)
  Key.pass(key.ownerId)
  Key.pass(key.followerId)
  local window = Window.is(spec) and Window.opened(key, spec)
  if window then
    -- A resend of a call that an earlier owner has answered is no new call.
    key.holdsUntil, key.windowFrom, item.due = window.till, window.from, window.due
  else
    key.holdsUntil, key.windowFrom, key.absorbedIds = spec.ttl and now + spec.ttl or nil, nil, {}
  end
  key.ownerId, key.followerId, key.digestFirst, key.ownerEndedAt, key.ownerEndedAs = t.id, nil,
    redis.sha1hex(item.payload), nil, nil
  key.dirty = true
  t.optional.keyHoldsUntil, t.optional.keyWindowFrom = key.holdsUntil, key.windowFrom
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
  local policy = item.optional.keySpec.policy
  if policy == 'reject' then
    return { kind = 'refused', refusal = { type = 'key-taken', key = key.key, id = key.ownerId } }
  end
  local conflict = redis.sha1hex(item.payload) ~= key.digestFirst
  local state = key.ownerEndedAs or F.taskOf(key.ownerId).state
  if policy == 'return' then return Key.existing(key.ownerId, conflict, false) end
  if Window.is(item.optional.keySpec) then
    local kind = Window.step(key, item.optional.keySpec)
    return kind ~= 'new' and Key.existing(key.ownerId, conflict, kind == 'replace') or nil
  end
  if state ~= 'started' and not F.isEnd(state) then return Key.existing(key.ownerId, conflict, true) end
  if policy == 'replace-queued' or state ~= 'started' then
    return Key.existing(key.ownerId, conflict, false)
  end
  if key.followerId then return Key.existing(key.followerId, conflict, true) end
end

-- Puts another input into a task that has not started, or is put back.
function Key.replaceInput(t, item)
  t.optional = t.optional or {}
  t.optional.payloadDigest = F.firstDigest(t)
  F.change(t)
  local head = string.sub(F.fixed(t).recordText, 1, t.optionsAt - 1)
  t.recordText = head .. string.sub(item.recordText, item.optionsAt, item.body - 1)
    .. (item.long and '' or item.payload)
  t.created = nil
  F.fixed(t)
  t.long = item.long
  F.setKind(t, t.kind - t.kind % (2 * FLAG.kind.long) + (item.long and FLAG.kind.long or 0))
  t.textChanged = true
  if item.long then redis.call('HSET', K.payloads(), t.id, item.long) else redis.call('HDEL', K.payloads(), t.id) end
end

-- Remembers the id of a call that the key answered, and swaps the input where the answer says so.
function Key.absorb(key, item, reply)
  if reply.kind ~= 'existing' then return end
  if not Key.hasAbsorbed(key, item.id) then table.insert(key.absorbedIds, item.id) end
  if #key.absorbedIds > LIMIT.absorbed then table.remove(key.absorbedIds, 1) end
  key.dirty = true
  if not reply.replaced then return end
  local t = F.taskOf(reply.id)
  local _, due
  if Window.is(item.optional.keySpec) then _, due = Window.step(key, item.optional.keySpec) end
  Key.replaceInput(t, item)
  if due then
    Window.move(t, due)
    reply.state = t.state
  end
end
