-- Lists the users of a queue by name.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  queue   the queue
-- ARGV[2]  cursor  the last name of the page before, or ''
-- ARGV[3]  limit   most users to tell
-- Returns  1 when more follow, else 0; then each user as JSON
-- Cost     O(limit)
-- @include lib/state.lua
-- @include lib/read.lua
-- @include lib/info.lua

local queue, cursor, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])
local lane = F.laneOf(queue)
local from = cursor == '' and '-' or '(' .. cursor
local names = redis.call('ZRANGEBYLEX', K.users(lane.p), from, '+', 'LIMIT', 0, limit + 1)
local reply = { #names > limit and 1 or 0 }
for i = 1, math.min(#names, limit) do
  reply[i + 1] = cjson.encode(F.userInfo(F.userOf(lane, names[i])))
end
return reply
