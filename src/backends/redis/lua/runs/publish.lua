-- Publishes an event to the tasks of a user that wait for it.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  user     whose tasks
-- ARGV[2]  event    name and key, as a pair
-- ARGV[3]  payload  JSON text
-- ARGV[4]  id       of the event
-- ARGV[5]  keep     how long it is kept, in ms
-- Returns  {'published'} or {'repeated'}
-- Cost     O(LIMIT.cascadeStep × log waiters); the others are woken by maintenance
-- @include lib/state.lua
-- @include lib/base.lua

local user, event, payload, id, keep = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local place = K.pair(user, event)
local key = K.events(place)
if redis.call('HEXISTS', key, FIELD.events.id .. id) == 1 then return F.unchanged({ 'repeated' }) end
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
