-- Changes the settings of a user, in one queue or in all that have none of their own. Of many queues some hear
-- of it at once, and others in further calls or ticks.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  user    the user
-- ARGV[2]  queueName or '' for all
-- ARGV[3]  patch   as JSON; '' to go on with telling queues
-- Returns  {'ok'}, or {'more'} when queues are left that have not heard
-- Cost     O(queues, at most LIMIT.refreshStep, × log users, and started tasks)

F.readAll()
local user, queueName = ARGV[1], ARGV[2]
redis.call('DEL', K.oom())

local function change(patch)
  local key, field = K.userConfig(user), queueName == '' and '*' or queueName
  local settings = F.patched(redis.call('HGET', key, field), patch)
  if settings then
    redis.call('HSET', key, field, cmsgpack.pack(settings))
    redis.call('SADD', K.configured(), user)
    if queueName == '' then redis.call('ZADD', K.configuredForAll(), 0, user) end
  else
    redis.call('HDEL', key, field)
    if queueName == '' then redis.call('ZREM', K.configuredForAll(), user) end
    if redis.call('EXISTS', key) == 0 then redis.call('SREM', K.configured(), user) end
  end
end

local more, who = false, Tick.refreshName(user, true)
if ARGV[3] ~= '' then
  change(cjson.decode(ARGV[3]))
  if queueName == '' then Tick.refreshFrom(who, '0') end
end
C.configs = math.max(redis.call('SCARD', K.configured()), 1)
C.settles = true
if queueName ~= '' then
  Tick.notifyUser(F.queueOf(queueName), user)
else
  more = select(2, Tick.refreshOne(who, LIMIT.refreshStep))
end
C.configs = redis.call('SCARD', K.configured())
F.writeStep()
F.closeStep()
return { more and 'more' or 'ok' }
