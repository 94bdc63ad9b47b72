-- Sends a signal to a task or run.
--
-- KEYS[1]  clock     hash
-- ARGV[1]  id        the task that it is for
-- ARGV[2]  name      of the signal
-- ARGV[3]  payload   JSON text
-- ARGV[4]  signalId  '' when it has none
-- Returns  {'more'} when it has ended waits whose time is over, and has to be asked again; {'delivered'}, {'buffered'}, {'repeated'}, {'not-found'}, {'ended', state} or {'full', limit}
-- Cost     O(log waiters)

F.beginUsual('')
if Usual.signal(ARGV[1], ARGV[2], ARGV[3], ARGV[4]) then return { 'delivered' } end
F.readAll()
local id, name, payload, signalId = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local state = F.endStateOf(id)
if state == nil then return F.unchanged({ 'not-found' }) end
if state then return F.unchanged({ 'ended', state }) end
local key = K.channel(id)
if signalId ~= '' and redis.call('HEXISTS', key, FIELD.channel.signalId .. signalId) == 1 then
  return F.unchanged({ 'repeated' })
end
redis.call('DEL', K.oom())
local waiter, ended, more = Wait.signalWaiter(id, name)
local counts, full = (not waiter or signalId ~= '') and Wait.countsOf(key), nil
if not waiter and not more then
  full = Wait.keep(key, counts, name, payload)
  if full and ended == 0 then return F.unchanged({ 'full', full }) end
end
if counts and not full and not more then
  Wait.remember(key, counts, signalId)
  if Wait.saveCounts(key, counts) then F.addKeys(F.taskOf(id)) end
end
if waiter then Wait.takeSignal(waiter, payload) end
F.cascade(LIMIT.cascadeStep)
F.writeStep()
F.closeStep()
if more then return { 'more' } end
if full then return { 'full', full } end
return { waiter and 'delivered' or 'buffered' }
