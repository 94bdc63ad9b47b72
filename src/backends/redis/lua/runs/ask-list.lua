-- Tells of questions that are open, the oldest first.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  user    of whose tasks; '' for all
-- ARGV[2]  name    whom they are for; '' for all
-- ARGV[3]  cursor  of the page before, or ''
-- ARGV[4]  limit   most to look at
-- Returns  where the next page begins, or ''; then what lib/steps/wait.lua tells of each
-- Cost     O(limit), within LIMIT.scriptUnits and scriptBytes

F.readAll()
local key, cursor, limit = K.asks(ARGV[1], ARGV[2]), ARGV[3], tonumber(ARGV[4])
local members = redis.call('ZRANGEBYLEX', key, cursor == '' and '-' or '(' .. cursor, '+', 'LIMIT', 0, limit + 1)
local reply = { '' }
for i = 1, math.min(#members, limit) do
  if F.isSpent() then
    reply[1] = members[i - 1]
    return reply
  end
  F.spend(0.5, 0)
  local mark, id = string.match(members[i], '^%d+ ([^.]+)%.(.*)$')
  Wait.row(reply, id or '', mark or '')
end
if #members > limit then reply[1] = members[limit] end
return reply
