-- Takes a worker that waits no more out of its lines; a token that came meanwhile is passed on.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  worker  its id
-- ARGV[2]  got     the request for which it got what it was handed last, or ''
-- Returns  {'ok'}
-- Cost     O(queues × log workers)

F.readAll()
local worker = ARGV[1]
local known = F.workerOf(worker)
local line = known and known.line
if not line then return { 'ok' } end
local queues = redis.call('HGET', K.worker(worker), FIELD.worker.queues)
redis.call('DEL', K.oom())
local woken = line == LINE.woken and redis.call('DEL', K.wake(worker)) == 1
if line == LINE.handed and not HandOver.hasGot(known, ARGV[2]) then HandOver.takeBack(known) end
Line.leaveLines(known)
local hadAlarm = Due.dropAlarm(worker)
for queueName in string.gmatch(queues or '', '[^,]+') do
  if woken then Line.wakeFor(F.queueOf(queueName), 1) end
  if hadAlarm then Due.handAlarm(F.queueOf(queueName)) end
  hadAlarm = false
end
F.writeStep()
F.closeStep()
return { 'ok' }
