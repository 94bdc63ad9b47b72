-- Keeps snapshots of graphs while a stored task needs them, and for a while after that.

-- Whether it is there; one whose time is over by the clock of the namespace is dropped.
function Graphs.isAlive(hash)
  local till = tonumber(redis.call('HGET', K.graphMeta(hash), FIELD.graphMeta.till))
  if till and till > 0 and till <= now then redis.call('DEL', K.graph(hash)) end
  return redis.call('EXISTS', K.graph(hash)) == 1
end

-- A task or a schedule needs the snapshot: it has no end.
function Graphs.hold(hash, id)
  redis.call('SADD', K.graphRefs(hash), id)
  redis.call('PERSIST', K.graph(hash))
  redis.call('PERSIST', K.graphMeta(hash))
  redis.call('HSET', K.graphMeta(hash), FIELD.graphMeta.till, '0')
end

-- Its end is moved on, unless a task needs it. What is known of it is remembered for longer.
function Graphs.touch(hash, call)
  if redis.call('EXISTS', K.graphRefs(hash)) == 1 then return end
  call('HSET', K.graphMeta(hash), FIELD.graphMeta.till, now + LIMIT.graphTtlMs)
  call('PEXPIRE', K.graph(hash), LIMIT.graphTtlMs)
  call('PEXPIRE', K.graphMeta(hash), 8 * LIMIT.graphTtlMs)
end

-- The record of a task goes, and with it what was kept for it alone.
function Graphs.drop(t)
  local hash = t.optional and t.optional.graphHash
  if hash then Graphs.letGo(hash, t.id) end
end

-- A task or a schedule needs the snapshot no more.
function Graphs.letGo(hash, id)
  redis.call('SREM', K.graphRefs(hash), id)
  Graphs.touch(hash, redis.call)
end
