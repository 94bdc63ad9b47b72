-- Gives one user of a queue.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  user    the user
-- ARGV[2]  queueName the queue
-- Returns  the user as JSON; nothing when it has neither tasks nor settings
-- Cost     O(1); O(started tasks) for a user without a record
-- @include lib/state.lua
-- @include lib/read.lua
-- @include lib/info.lua

local user, queueName = ARGV[1], ARGV[2]
local u = F.userOf(F.queueOf(queueName), user)
local info = F.userInfo(u)
if not F.isKnown(u) and next(u.own) == nil then return {} end
return { cjson.encode(info) }
