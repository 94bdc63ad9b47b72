-- Failures by what they failed with: first those with failed tasks, then those whose tasks are tried again,
-- and of each the one seen last first.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  kind    'failed', or 'retried' to begin with those
-- ARGV[2]  after   minus the moment of the group behind which to begin, or ''
-- ARGV[3]  behind  that group, or ''
-- ARGV[4]  limit   most
-- Returns  kind, minus moment and group of the last one when more follow, else three times ''; then for each group
--          its name, how many failed tasks it has, attempts, when the first and the newest of them failed, and the
--          task of the newest
-- Cost     O(limit + log groups)

F.readAll()
local kind, after, behind, limit = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local reply, found = { '', '', '' }, 0

local function add(group, score)
  local known = redis.call('HMGET', K.errorGroup(group), FIELD.errorGroup.attempts, FIELD.errorGroup.first,
    FIELD.errorGroup.newest)
  -- Its time is over.
  if not known[1] then return end
  found = found + 1
  local failed = K.failedOf(group)
  local newest = redis.call('ZRANGE', failed, -1, -1)[1] or known[3]
  local row = { group, redis.call('ZCARD', failed), known[1], known[2] or '0', string.format('%.0f', -score),
    newest or '' }
  for i = 1, #row do reply[#reply + 1] = row[i] end
end

while kind do
  local key = K.errorGroups(kind)
  local rank = after ~= '' and F.rankBehind(key, after, behind) or 0
  local rows = redis.call('ZRANGE', key, rank, rank + limit - found, 'WITHSCORES')
  for i = 1, #rows, 2 do
    if found == limit then
      reply[1], reply[2], reply[3] = kind, after, behind
      return reply
    end
    after, behind = rows[i + 1], rows[i]
    add(behind, after)
  end
  kind, after, behind = kind == 'failed' and 'retried' or nil, '', ''
end
return reply
