-- Publishes an event to the tasks of a user that wait for it, and stores those that it starts.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  user     whose tasks
-- ARGV[2]  event    name and key, as a pair
-- ARGV[3]  payload  JSON text
-- ARGV[4]  id       of the event
-- ARGV[5]  keep     how long it is kept, in ms
-- ARGV[6]  starts   the schedules that fire at it, as far as the publisher knows: id, revision, and '1' for one of
--          which a task follows, else '0'; all parted by blanks
-- ARGV[7..]  items  these tasks, in that order, as for enqueue; none: nothing is started
-- Returns  {'published'}; or, nothing written, {'repeated'}, 'schedules' and 19 fields of each of those that fire
--          at it, see lib/time/schedule.lua, or 'refused' and the reply for each of the items as JSON
-- Cost     O(LIMIT.cascadeStep × log waiters + items × log tasks); other waiters are woken by maintenance

F.readAll()
local user, event, payload, id, keep = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local place = K.pair(user, event)
local key = K.events(place)
if redis.call('HEXISTS', key, FIELD.events.id .. id) == 1 then return F.unchanged({ 'repeated' }) end

local firing, known, starting = Schedule.firingAt(user, Schedule.nameIn(event)), {}, {}
for schedule, revision, starts in string.gmatch(ARGV[6], '(%S+) (%d+) ([01])') do
  known[#known + 1], known[schedule] = schedule, revision
  if starts == '1' then starting[#starting + 1] = schedule end
end
local areKnown = #known == #firing / 2
for i = 1, #firing, 2 do areKnown = areKnown and known[firing[i]] == firing[i + 1] end
if not areKnown then
  local reply = { 'schedules' }
  for i = 1, #firing, 2 do Schedule.add(reply, firing[i]) end
  return F.unchanged(reply)
end
if #starting > 0 then
  local items = Store.readItems(7)
  local replies = Store.storeAll(items)
  if Store.refusal then return F.unchanged({ 'refused', unpack(replies) }) end
  for i = 1, #starting do
    if Store.made[items[i].id] then Schedule.noteStart(starting[i], items[i].id) end
  end
  Step.saveTasks()
end

local newest = Wait.newestEvent(place) + 1
local number, old = string.format('%.0f', newest), string.format('%.0f', newest - LIMIT.events)
redis.call('HSET', key, FIELD.events.newest, number, FIELD.events.event .. number, string.format('%.0f ', now) .. payload,
  FIELD.events.id .. id, number, FIELD.events.idOf .. number, id)
local gone = redis.call('HGET', key, FIELD.events.idOf .. old)
if gone then redis.call('HDEL', key, FIELD.events.event .. old, FIELD.events.idOf .. old, FIELD.events.id .. gone) end
if redis.call('PTTL', key) < keep then redis.call('PEXPIRE', key, keep) end
Wait.deliver(place)
F.cascade(LIMIT.cascadeStep)
F.writeStep()
F.closeStep()
return { 'published' }
