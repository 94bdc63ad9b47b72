-- Reads the first tasks of a user's level, several at once when it will be served several times.

-- Id of the head of a level.
function F.headOf(u, level, turns)
  u.heads = u.heads or {}
  local heads = u.heads[level]
  if heads and heads.at <= #heads then return heads[heads.at] end
  local want = math.ceil(turns * u.w / math.max(u.lane.w, u.w))
  heads = redis.call('LRANGE', F.lineKey(u, level), 0, math.max(want, 1) - 1)
  heads.at = 1
  u.heads[level] = heads
  return heads[1]
end

-- The head is taken out of the line.
function F.takeHead(u, level, t)
  if t then t.isTaken = true end
  redis.call('LPOP', F.lineKey(u, level))
  u.heads[level].at = u.heads[level].at + 1
end
