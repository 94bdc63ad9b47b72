-- Keeps idempotency keys, and frees a key when the task that owns it has ended.
-- One packed field: o owner, f follower, p digest of the first payload, u holds until, n when the
-- window of a key began that gathers calls, e when its
-- owner ended, g how, once the owner's record is removed, a the ids of the calls that it answered.
-- @rare

function F.keyState(queue, user, key)
  local name = K.key(queue, user, key)
  local known = keyring[name]
  if known then return known end
  local packed = redis.call('HGET', name, 'k')
  local entry = packed and cmsgpack.unpack(packed) or {}
  known = { name = name, key = key, o = entry.o, f = entry.f, p = entry.p, u = entry.u,
    n = entry.n, e = entry.e, g = entry.g, a = entry.a or {} }
  keyring[name] = known
  return known
end

function F.firstDigest(t)
  return t.x and t.x.fp or redis.sha1hex(F.payloadOf(t))
end

function F.saveKeys()
  for name, key in pairs(keyring) do
    if key.dirty then
      if not key.o then
        redis.call('DEL', name)
      else
        redis.call('HSET', name, 'k', cmsgpack.pack({ o = key.o, f = key.f, p = key.p,
          u = key.u, n = key.n, e = key.e, g = key.g, a = key.a }))
        if key.e then
          local till = math.max(key.e + LIMIT.resendMs, key.u or 0)
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
  local key = F.keyState(u.lane.queue, u.name, t.x.k)
  if key.f == t.id then
    key.f = nil
    key.dirty = true
  elseif key.o == t.id then
    if key.f then
      key.o, key.f = key.f, nil
      key.p = F.firstDigest(F.taskOf(key.o))
    else
      key.e = now
    end
    key.dirty = true
  end
end
