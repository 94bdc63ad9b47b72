-- Tells named values.
--
-- KEYS[1]  clock    hash
-- ARGV[1..]  places  user, namespace and key of each
-- Returns  for each 'found', writer, when it was pushed, when it goes or '', text; else ''
-- Cost     O(places)
-- @include lib/state.lua
-- @include lib/read.lua
-- @include lib/xcom.lua

local reply = {}
for i = 1, #ARGV, 3 do
  XCom.tell(reply, XCom.placeOf(ARGV[i], ARGV[i + 1], ARGV[i + 2]), true)
end
return reply
