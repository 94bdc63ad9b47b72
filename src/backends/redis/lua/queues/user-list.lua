-- Lists the users of a queue by name.
--
-- KEYS[1]  clock       hash
-- ARGV[1]  queueName the queue
-- ARGV[2]  cursor      the last name of the page before, or ''
-- ARGV[3]  limit       most users to tell
-- ARGV[4]  configured  '1': those too that have settings for all queues, and no record in this one
-- Returns  the cursor of the next page or '', then each user as JSON
-- Cost     O(limit + started tasks), within LIMIT.scriptUnits but for these

F.readAll()
local queueName, cursor, limit, configured = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4] == '1'
local queue = F.queueOf(queueName)
local more = configured and C.configs > 0 and K.configuredForAll() or nil
-- Each takes some units, and the started tasks are looked through.
limit = math.min(limit, math.floor(LIMIT.scriptUnits / 4))
local names = F.namesAfter(queue, cursor, limit + 1, more)
-- Of some nothing is known any more, but their name.
local reply, n = { #names > limit and names[limit] or '' }, 1
for i = 1, math.min(#names, limit) do
  local u = F.userOf(queue, names[i])
  local info = F.userInfo(u)
  if F.isKnown(u) or (configured and next(u.own) ~= nil) then
    n = n + 1
    reply[n] = cjson.encode(info)
  end
end
return reply
