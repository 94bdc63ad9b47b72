-- Lets another scheduler take over at once.
--
-- KEYS[1]  clock  hash
-- ARGV[1]  owner  who leaves
-- Returns  {'ok'}
-- Cost     O(1)

F.readAll()
local owner = ARGV[1]
if redis.call('HGET', K.schedulerLock(), FIELD.schedulerLock.owner) == owner then
  redis.call('DEL', K.oom())
  redis.call('HSET', K.schedulerLock(), FIELD.schedulerLock.till, 0)
end
return F.unchanged({ 'ok' })
