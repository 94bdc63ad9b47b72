-- Notes what a run has done, on behalf of its lease.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  id       the run's task
-- ARGV[2]  token    of its lease
-- ARGV[3]  node     what wrote; '' when nothing did
-- ARGV[4]  channel  the run whose channels they are
-- ARGV[5]  writes   JSON, as lib/records/writes.lua has them
-- ARGV[6..]  entries  field and JSON text of each; no text takes the field away
-- Returns  {'ok'}, {'paused'}, {'lost'}, {'canceling'} or {'refused …'}
-- Cost     O(entries + writes)

F.readAll()
local id, token, node = ARGV[1], ARGV[2], ARGV[3]
local t = F.taskOf(id)
if not t or not F.isAttendedBy(t, token) then return F.unchanged({ 'lost' }) end
if t.canceling then return F.unchanged({ 'canceling' }) end
redis.call('DEL', K.oom())
local name = token .. ' ' .. node
if node ~= '' and not (t.changing and t.changing.checkpoint == name) then
  local refused = F.applyWrites(ARGV[4], ARGV[5], id)
  if refused then return F.unchanged({ refused }) end
  F.optionalOf(t).checkpoint = name
end
F.addKeys(t)
local key = K.run(id)
for i = 6, #ARGV, 2 do
  local field, value = ARGV[i], ARGV[i + 1]
  if value == '' then
    redis.call('HDEL', key, field)
  else
    redis.call('HSET', key, field, value)
  end
end
if t.losses > 0 then
  t.losses = 0
  F.change(t)
end
local run = Pause.runOf(t)
F.writeStep()
F.closeStep()
return { run and 'paused' or 'ok' }
