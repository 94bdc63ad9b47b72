-- Cancels a task that has not started, or asks the worker that runs it to stop.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  id       the task
-- ARGV[2]  cause    kept with it, as JSON
-- Returns  {'canceled'}, {'requested', worker}, {'already-ended', state} or {'not-found'}
-- Cost     O(log tasks + dependents told)

F.readAll()
local id, cause = ARGV[1], ARGV[2]
local t = F.taskOf(id)
if not t then return F.unchanged({ 'not-found' }) end
if F.isEnd(t.state) then return F.unchanged({ 'already-ended', t.state }) end
redis.call('DEL', K.oom())
local reply = { 'canceled' }
if May.cancelRequested(t.state) then
  reply = { 'requested', t.worker }
  if not t.canceling then
    t.canceling = true
    F.optionalOf(t).cancelCause = cause
  end
else
  F.endTask(t, F.ownerOf(t), 'canceled', { cause = cause })
  F.cascade(LIMIT.cascadeStep)
end
F.writeStep()
F.closeStep()
return reply
