-- Reads the first tasks of a user's level, several at once when it will be served several times.

-- Id and seq of the head of a level.
function F.headOf(u, level, turns)
  u.heads = u.heads or {}
  local heads = u.heads[level]
  if heads and heads.at <= #heads then return heads[heads.at], tonumber(heads[heads.at + 1]) end
  local lane = u.lane
  local want = math.ceil(turns * u.w / math.max(lane.w, u.w))
  if want > u.cnt[level] then want = u.cnt[level] end
  local key = F.levelKey(u, level)
  F.flushKey(key)
  if level == 6 or u.cnt[level] + u.cnt[6] == u.queued then
    heads = redis.call('ZRANGE', key, 0, want - 1, 'WITHSCORES')
  else
    local from = (6 - level) * BAND
    heads = redis.call('ZRANGEBYSCORE', key, from, '(' .. string.format('%.17g', from + BAND),
      'WITHSCORES', 'LIMIT', 0, want)
  end
  heads.at = 1
  u.heads[level] = heads
  return heads[1], tonumber(heads[2])
end

function F.nextHead(u, level)
  u.heads[level].at = u.heads[level].at + 2
end

function F.seqOf(level, score)
  if level == 6 then return score end
  return score - (6 - level) * BAND - ROOT
end
