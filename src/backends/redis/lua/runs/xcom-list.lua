-- Tells what is in a namespace of a user, or which namespaces there are.
--
-- KEYS[1]  clock      hash
-- ARGV[1]  user       whose values
-- ARGV[2]  namespace  of which; '' for the namespaces themselves
-- ARGV[3]  cursor     the last name of the page before, or ''
-- ARGV[4]  limit      most names to look at
-- Returns  1 when more follow, else 0; then each name, and of a key what lib/records/xcom.lua tells without
--          the text
-- Cost     O(limit), within LIMIT.scriptUnits and scriptBytes

F.readAll()
local user, namespace, cursor, limit = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local key = namespace == '' and K.xcomNamespaces(user) or K.xcomKeys(K.pair(user, namespace))
local from = cursor == '' and '-' or '(' .. cursor
local names = redis.call('ZRANGEBYLEX', key, from, '+', 'LIMIT', 0, limit + 1)
local reply = { #names > limit and 1 or 0 }
for i = 1, math.min(#names, limit) do
  if F.isSpent() then
    reply[1] = 1
    break
  end
  F.spend(0.5, 0)
  reply[#reply + 1] = names[i]
  if namespace ~= '' then XCom.append(reply, XCom.placeOf(user, namespace, names[i]), false) end
end
return reply
