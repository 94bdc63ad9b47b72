-- Forgets a worker; its lists go when no live worker has them.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  worker    its id
-- ARGV[2]  instance  which of those with this id it is, or ''
-- ARGV[3]  got       the request for which it got what it was handed last, or ''
-- Returns  {'ok'}
-- Cost     O(names of its lists, at most 500 at once)

F.readAll()
local worker = ARGV[1]
local got = redis.call('HMGET', K.worker(worker), FIELD.worker.names, FIELD.worker.queues, FIELD.worker.instance)
local known = F.workerOf(worker)
local isOther = got[3] and ARGV[2] ~= '' and got[3] ~= ARGV[2]
if not known or not got[1] or isOther then return F.unchanged({ 'ok' }) end
local line = known.line
redis.call('DEL', K.oom())
Lists.leaveLists(worker)
if line == LINE.handed and not HandOver.hasGot(known, ARGV[3]) then HandOver.takeBack(known) end
if line then Line.leaveLines(known) end
Due.dropAlarm(worker)
F.forgetWorker(worker)
F.move('listed-workers', worker, false)
for name in string.gmatch(got[1], '[^,]+') do redis.call('ZADD', K.names(), now, name) end
redis.call('ZREMRANGEBYSCORE', K.names(), '-inf', now - LIMIT.unknownTaskMs)
if C.dropping > 0 then Lists.dropLists(LIMIT.listNamesAtOnce) end
F.writeStep()
if line == LINE.woken then
  for queueName in string.gmatch(got[2] or '', '[^,]+') do Line.wakeFor(F.queueOf(queueName), 1) end
end
F.closeStep()
return { 'ok' }
