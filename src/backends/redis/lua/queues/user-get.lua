-- Gives users of queues; of the first of them, as many as one script may.
--
-- KEYS[1]  clock       hash
-- ARGV[1]  configured  '1': those too that have nothing but settings for all queues
-- ARGV[2..]            user and queue of each
-- Returns  for each the user as JSON; '' when it has neither tasks nor settings
-- Cost     O(users), within LIMIT.scriptUnits and scriptBytes; and O(started tasks) for several, or one without a
--          record

F.readAll()
local UNITS = 4
local runs = #ARGV > 3 and F.runningAll()
local reply = {}
for i = 2, #ARGV, 2 do
  if F.isSpent() then break end
  local queue = F.queueOf(ARGV[i + 1])
  if runs then queue.runs = runs[queue.name] or NONE end
  local u = F.userOf(queue, ARGV[i])
  local info = F.userInfo(u)
  local isListed = F.isKnown(u) or (ARGV[1] == '1' and next(u.own) ~= nil)
  reply[#reply + 1] = isListed and cjson.encode(info) or ''
  F.spend(UNITS, #reply[#reply])
end
return reply
