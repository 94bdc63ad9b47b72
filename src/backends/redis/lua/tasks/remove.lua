-- Takes an ended task away for good, with everything kept about it.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  id      the task
-- ARGV[2]  by      it has to have ended by this moment, or ''
-- Returns  {'ok'}, {'not-found'}, {'wrong-state', state} or {'busy'}; {'more'}: so many waited for
--          its redrive that not all of them are canceled yet; ask again
-- Cost     O(log tasks + dependents that wait for its redrive, at most 50)

F.readAll()
local id = ARGV[1]
local t = F.taskOf(id)
if not t then return F.unchanged({ 'not-found' }) end
local by = tonumber(ARGV[2] or '')
if not F.isEnd(t.state) or (by and t.at > by) then return F.unchanged({ 'wrong-state', t.state }) end
if t.inCascade or t.readers > 0 then return F.unchanged({ 'busy' }) end
redis.call('DEL', K.oom())
local gone = Retain.takeAway(t)
F.writeStep()
F.closeStep()
return { gone and 'ok' or 'more' }
