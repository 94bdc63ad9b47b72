-- Finds the queues that may know some users, hundreds of queues at a time.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  cursor  of the call before, or '0'
-- ARGV[2..]        users
-- Returns  the next cursor, '0' after the last, then queue and user of each place; a place may come twice
-- Cost     O(queues looked at × users), within LIMIT.scriptUnits, and O(started tasks) for the first call

F.readAll()
-- Of a queue, and of each user in it.
local QUEUE, USER = 0.2, 0.03
local users = { unpack(ARGV, 2) }
local most = math.ceil(LIMIT.scriptUnits / (QUEUE + USER * #users))
local cursor, queues = unpack(redis.call('SSCAN', K.queues(), ARGV[1], 'COUNT', most))
local reply = { cursor }
local function add(queueName, user) reply[#reply + 1], reply[#reply + 2] = queueName, user end

for _, queueName in ipairs(queues) do
  local scores = redis.call('ZMSCORE', K.users(K.queue(queueName)), unpack(users))
  for i, user in ipairs(users) do
    if scores[i] then add(queueName, user) end
  end
end
-- Who has nothing but started tasks stands in none of these.
if ARGV[1] == '0' then
  for queueName, runs in pairs(F.runningAll()) do
    for _, user in ipairs(users) do
      if runs[user] then add(queueName, user) end
    end
  end
end
return reply
