-- Gathers the writes to sorted sets, so that each key gets one ZADD and one ZREM per step.
-- Z: key -> member -> score, or false to take the member out. I: the same for the indexes of the
-- whole namespace, by name; their least scores are kept in H.

function F.zset(key, member, score)
  local members = Z[key]
  if not members then
    members = {}
    Z[key] = members
  end
  members[member] = score
end

-- Takes one member out, at once unless this step writes more of the set.
function F.drop(key, member)
  local members = Z[key]
  if members then members[member] = false else redis.call('ZREM', key, member) end
end

-- What is to be written of a sorted set: for steps that write many members, until that is flushed.
function F.membersOf(key)
  Z[key] = Z[key] or {}
  return Z[key]
end

-- The same of an index of the whole namespace: least of the new scores, if any, and whether some leave it.
function F.indexOf(name, least, isLeft)
  I[name], moved[name] = I[name] or {}, moved[name] or isLeft
  if least and H[name] and least < H[name] then H[name] = least end
  return I[name]
end

-- A member that may stand in the index already: its old score may have been the least.
function F.move(name, member, score)
  local members = I[name]
  if not members then
    members = {}
    I[name] = members
  end
  members[member] = score
  moved[name] = true
  if score and H[name] and score < H[name] then H[name] = score end
end

-- A member that is new to the index. `text`: the score as it is sent, when the caller has it.
function F.put(name, member, score, text)
  local members = I[name]
  if not members then
    members = {}
    I[name] = members
  end
  members[member] = text or score
  if H[name] and score < H[name] then H[name] = score end
end

-- A member, or a field, that is too long for a listpack: what had it once is none, which Redis would look through for
-- each of many changes.
local SPREAD = string.rep('\255', LIMIT.spreadBytes)

function F.addAll(key, members)
  local args, n, removals = nil, 0, false
  for member, score in pairs(members) do
    if score then
      if not args then args = {} end
      args[n + 1] = score
      args[n + 2] = member
      n = n + 2
      if n == LIMIT.commandValues then
        redis.call('ZADD', key, unpack(args))
        args, n = nil, 0
      end
    else
      removals = true
    end
  end
  if n == 2 then
    redis.call('ZADD', key, args[1], args[2])
  elseif n >= 2 * LIMIT.spreadFrom then
    args[n + 1], args[n + 2] = '0', SPREAD
    redis.call('ZADD', key, unpack(args))
    redis.call('ZREM', key, SPREAD)
  elseif n > 0 then
    redis.call('ZADD', key, unpack(args))
  end
  return removals
end

function F.removeAll(key, members)
  local args, n = {}, 0
  for member, score in pairs(members) do
    if not score then
      n = n + 1
      args[n] = member
      if n == LIMIT.commandValues then
        redis.call('ZREM', key, unpack(args))
        args, n = {}, 0
      end
    end
  end
  if n > 0 then redis.call('ZREM', key, unpack(args)) end
end

function F.flushKey(key)
  local members = Z[key]
  if not members then return end
  Z[key] = nil
  if F.addAll(key, members) then F.removeAll(key, members) end
end

function F.flushIndex(name)
  local members = I[name]
  if not members then return end
  I[name] = nil
  local key = K.index(name)
  if F.addAll(key, members) then F.removeAll(key, members) end
  if moved[name] then
    moved[name] = nil
    if H[name] then
      local head = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
      H[name] = head[2] and tonumber(head[2]) or INF
    end
  end
end

-- New places before old ones: when it is cut short, a task stands in one place at least.
function F.flushSets()
  local left = {}
  for key, members in pairs(Z) do
    if F.addAll(key, members) then left[key] = members end
  end
  for key, members in pairs(left) do F.removeAll(key, members) end
  Z = {}
  for name in pairs(I) do F.flushIndex(name) end
end
