-- Changes the settings of a queue. Its users hear of new defaults at once, or in further calls and ticks when
-- they are many.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  queueName the queue
-- ARGV[2]  patch   as JSON; '' to go on with telling users
-- Returns  {'ok'}, or {'more'} when users are left that have not heard
-- Cost     O(users, at most LIMIT.refreshStep, and started tasks)

F.readAll()
local queueName = ARGV[1]
local queue = F.queueOf(queueName)
redis.call('DEL', K.oom())

-- True when its users have to hear of it.
local function change(patch)
  local key = K.fair(queue.prefix)
  queue.config = F.patched(redis.call('HGET', key, FIELD.fair.settings), patch) or {}
  queue.perUser, queue.defaults = queue.config.perUser or {}, nil
  local timed = queue.config.charge == 'time'
  local recounts = timed ~= queue.timed
  queue.timed = timed
  if recounts then Step.newEpoch(queue) end
  redis.call('HSET', key, FIELD.fair.settings, cmsgpack.pack(queue.config))
  queue.hasSettings = true
  if not queue.config.rate then redis.call('ZREM', K.index('rated'), queueName) end
  F.touchQueue(queue)
  queue.gain = queue.gain + queue.runnable
  return patch.perUser ~= nil or recounts
end

if ARGV[2] ~= '' and change(cjson.decode(ARGV[2])) then
  -- Those too that have nothing but running tasks.
  queue.runs = F.runningOf(queue)
  for name in pairs(queue.runs) do F.zset(K.users(queue.prefix), name, 0) end
  Tick.refreshFrom(queueName, '-')
end
C.settles = true
local more = select(2, Tick.refreshOne(queueName, LIMIT.refreshStep))
F.writeStep()
F.closeStep()
return { more and 'more' or 'ok' }
