-- Keeps idempotency keys, and frees a key when the task that owns it has ended.

function F.keyState(queueName, user, key)
  local name = K.key(queueName, user, key)
  local known = keyring[name]
  if known then return known end
  local packed = redis.call('HGET', name, FIELD.key.record)
  local entry = packed and cmsgpack.unpack(packed) or {}
  known = { name = name, key = key, ownerId = entry.ownerId, followerId = entry.followerId,
    digestFirst = entry.digestFirst, holdsUntil = entry.holdsUntil, windowFrom = entry.windowFrom,
    ownerEndedAt = entry.ownerEndedAt, ownerEndedAs = entry.ownerEndedAs, absorbedIds = entry.absorbedIds or {} }
  keyring[name] = known
  return known
end

function F.firstDigest(t)
  return t.optional and t.optional.payloadDigest or redis.sha1hex(F.payloadOf(t))
end

function F.saveKeys()
  for name, key in pairs(keyring) do
    if key.dirty then
      if not key.ownerId then
        redis.call('DEL', name)
      else
        redis.call('HSET', name, FIELD.key.record, cmsgpack.pack({ ownerId = key.ownerId,
          followerId = key.followerId, digestFirst = key.digestFirst, holdsUntil = key.holdsUntil,
          windowFrom = key.windowFrom, ownerEndedAt = key.ownerEndedAt, ownerEndedAs = key.ownerEndedAs,
          absorbedIds = key.absorbedIds }))
        if key.ownerEndedAt then
          local till = math.max(key.ownerEndedAt + LIMIT.resendMs, key.holdsUntil or 0)
          redis.call('PEXPIRE', name, math.max(till - now, 0) + LIMIT.resendMs)
        else
          redis.call('PERSIST', name)
        end
      end
    end
  end
end

-- The owner has ended: its follower inherits the key, or the key is free.
function F.releaseKey(t, u)
  local key = F.keyState(u.queue.name, u.name, t.optional.keyName)
  if key.followerId == t.id then
    key.followerId = nil
    key.dirty = true
  elseif key.ownerId == t.id then
    if key.followerId then
      local heir = F.taskOf(key.followerId)
      key.ownerId, key.followerId = key.followerId, nil
      key.digestFirst = F.firstDigest(heir)
      if key.holdsUntil then
        t.optional.keyPassed, heir.optional.keyHoldsUntil = true, key.holdsUntil
        F.change(heir)
      end
    else
      key.ownerEndedAt = now
    end
    key.dirty = true
  end
end
