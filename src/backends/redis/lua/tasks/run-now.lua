-- Makes a scheduled task due now; ends the wait of one that is suspended for a time alone.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  id      the task
-- Returns  {'ok', state}, {'not-found'} or {'wrong-state', state}
-- Cost     O(log tasks)

F.readAll()
local id = ARGV[1]
local t = F.taskOf(id)
if not t then return F.unchanged({ 'not-found' }) end
local sleeps = t.state == 'deferred' and t.optional and t.optional.awaitKind == 'time'
if not sleeps and not May.due(t.state) then return F.unchanged({ 'wrong-state', t.state }) end
redis.call('DEL', K.oom())
local u = F.ownerOf(t)
if sleeps then
  Wait.answer(t, u, 'time', '')
  F.reindex(u)
else
  F.becomeDue(t, u)
end
F.cascade(LIMIT.cascadeStep)
F.writeStep()
F.closeStep()
return { 'ok', t.state }
