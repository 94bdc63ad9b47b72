-- Pauses a run, ties a task to the pauses of its run, or ends a pause.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  id      the run, or the task
-- ARGV[2]  what    'pause', 'part' or 'resume'
-- ARGV[3]  words   the reason, '' for none; of a task, its run
-- Returns  {'ok', state, since, reason}, {'not-found'} or {'wrong-state', state}
-- Cost     O(log tasks), and what lib/ends/cascade.lua tells

F.readAll()
local id, what, words = ARGV[1], ARGV[2], ARGV[3]
local t = F.taskOf(id)
if not t then return F.unchanged({ 'not-found' }) end
if F.isEnd(t.state) and (what == 'pause' or t.state ~= 'failed') then return F.unchanged({ 'wrong-state', t.state }) end
redis.call('DEL', K.oom())
t.optional = t.optional or {}
local x = t.optional
if what == 'part' then
  x.pausedBy = words
elseif what == 'resume' then
  x.pausedSince, x.pauseReason = nil, nil
  if x.hasAside then Cascade.enter(t, F.stamp()) end
elseif not x.pausedSince then
  x.pausedSince, x.pauseReason = now, words ~= '' and words or nil
end
if next(x) == nil then t.optional = nil end
F.change(t)
local run = what ~= 'resume' and May.paused(t.state) and Pause.runOf(t)
if run and not Pause.mayDecide(t) then Pause.setAside(t, F.ownerOf(t), run) end
F.cascade(LIMIT.cascadeStep)
F.writeStep()
F.closeStep()
return { 'ok', t.state, x.pausedSince and string.format('%.0f', x.pausedSince) or '', x.pauseReason or '' }
