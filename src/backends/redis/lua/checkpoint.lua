-- Notes what a run has done, on behalf of its lease.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  id       the run's task
-- ARGV[2]  token    of its lease
-- ARGV[3..]  entries  field and JSON text of each; no text takes the field away
-- Returns  {'ok'} or {'lost'}
-- Cost     O(entries)
-- @include lib/state.lua
-- @include lib/base.lua

local id, token = ARGV[1], ARGV[2]
local t = F.taskOf(id)
if not t or t.state ~= 'started' or t.token ~= token then return F.unchanged({ 'lost' }) end
redis.call('DEL', K.oom())
local key = K.run(id)
for i = 3, #ARGV, 2 do
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
F.writeStep()
F.closeStep()
return { 'ok' }
