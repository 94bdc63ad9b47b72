-- Gives the schedules that are due to one scheduler at a time.
--
-- KEYS[1]  clock  hash
-- ARGV[1]  owner  who asks
-- ARGV[2]  limit  most schedules to tell
-- Returns  {'locked', until, now}, or {'granted', fence, when the next one is due or -1, now, then 19
--          fields of each, see lib/time/schedule.lua}
-- Cost     O(limit + log schedules)

F.readAll()
local owner, limit = ARGV[1], tonumber(ARGV[2])
local lock = redis.call('HMGET', K.schedulerLock(), FIELD.schedulerLock.owner, FIELD.schedulerLock.till,
  FIELD.schedulerLock.fence)
local isOwn, till = lock[1] == owner, tonumber(lock[2] or 0)
local head = H['schedules:due']
-- One that ends later than any that is taken now is of before the clock went back.
local isTaken = till > now and till <= now + LIMIT.scheduleLockMs
if not isOwn and isTaken and head > now - LIMIT.scheduleOverdueMs then
  return F.unchanged({ 'locked', till, now })
end
-- Where nothing will ever fire, no scheduler is kept away from it.
if head == INF then return F.unchanged({ 'granted', tonumber(lock[3] or 0), -1, now }) end
redis.call('DEL', K.oom())
local fence = tonumber(lock[3] or 0) + (isOwn and 0 or 1)
redis.call('HSET', K.schedulerLock(), FIELD.schedulerLock.owner, owner, FIELD.schedulerLock.till,
  string.format('%.0f', now + LIMIT.scheduleLockMs), FIELD.schedulerLock.fence, fence)
local reply = { 'granted', fence, -1, now }
local due = redis.call('ZRANGEBYSCORE', K.index('schedules:due'), '-inf', '+inf', 'WITHSCORES',
  'LIMIT', 0, limit + 1)
local bytes = 0
for i = 1, #due, 2 do
  local at_ = tonumber(due[i + 1])
  if at_ > now or i > 2 * limit or bytes > LIMIT.scriptBytes then
    reply[3] = math.ceil(at_)
    break
  end
  Schedule.add(reply, due[i])
  bytes = bytes + #(reply[#reply - 17] or '')
end
return F.unchanged(reply)
