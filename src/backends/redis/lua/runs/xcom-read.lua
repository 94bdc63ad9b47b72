-- Tells named values: of the first of them, as many as one script may.
--
-- KEYS[1]  clock    hash
-- ARGV[1..]  places  user, namespace and key of each
-- Returns  for each 'found', writer, when it was pushed, when it goes or '', text; else ''
-- Cost     O(places + bytes), within LIMIT.scriptUnits and scriptBytes

F.readAll()
local reply = {}
for i = 1, #ARGV, 3 do
  if F.isSpent() then break end
  XCom.append(reply, XCom.placeOf(ARGV[i], ARGV[i + 1], ARGV[i + 2]), true)
  F.spend(1, #reply[#reply])
end
return reply
