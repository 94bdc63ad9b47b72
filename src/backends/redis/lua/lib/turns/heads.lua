-- Reads and takes the first task of a level of a user.

function F.headOf(u, level)
  return redis.call('LINDEX', F.lineKey(u, level), 0)
end

function F.takeHead(u, level, t)
  if t then t.isTaken = true end
  redis.call('LPOP', F.lineKey(u, level))
end
