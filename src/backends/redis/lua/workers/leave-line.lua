-- Takes a worker that waits no more out of its lines; a token that came meanwhile is passed on.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  worker  its id
-- Returns  {'ok'}
-- Cost     O(queues × log workers)
-- @include lib/state.lua
-- @include lib/base.lua
-- @include lib/hand.lua

local worker = ARGV[1]
local got = redis.call('HMGET', K.worker(worker), FIELD.worker.line, FIELD.worker.queues)
if not got[1] then return { 'ok' } end
redis.call('DEL', K.oom())
local woken = got[1] == '' and redis.call('DEL', K.wake(worker)) == 1
if got[1] == '+' then Hand.takeBack(worker) end
Line.leaveLines(worker, got[1], false)
local hadAlarm = Due.dropAlarm(worker)
for queueName in string.gmatch(got[2] or '', '[^,]+') do
  if woken then Line.wakeFor(F.queueOf(queueName), 1) end
  if hadAlarm then Due.handAlarm(F.queueOf(queueName)) end
  hadAlarm = false
end
F.writeStep()
F.closeStep()
return { 'ok' }
