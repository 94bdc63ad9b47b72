-- Announces a worker: what it serves and knows. Its lists follow by `list-join`.
--
-- KEYS[1]  clock     hash
-- ARGV[1]  worker    its id
-- ARGV[2]  spec      as JSON, for people
-- ARGV[3]  names     of its tasks: ,a,b,
-- ARGV[4]  queues    a,b
-- ARGV[5]  assigned  id of its list of assigned users, or ''
-- ARGV[6]  steal     id of its list of steal targets, 'any' or ''
-- ARGV[7]  why       'start': it begins, also under the id of one before; 'again': it was known, and
--                    only its lists or its record are lost; 'change': its spec may be another
-- ARGV[8]  instance  which of those with this id it is, or ''
-- Returns  {'ok'}; {'taken'}: another one that lives has the id
-- Cost     O(queues); up to 50 workers that have been gone for an hour are forgotten

F.readAll()
local worker, spec, names, queues = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local assigned, steal, why, instance = ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local key = K.worker(worker)
-- A full server must still let workers come: they are what empties it.
redis.call('DEL', K.oom())
local was = redis.call('HMGET', key, FIELD.worker.lists, FIELD.worker.queues, FIELD.worker.began, FIELD.worker.instance)
local known = F.workerOf(worker)
-- One seen far in the future was last seen before the clock went back.
if instance ~= '' and was[4] and was[4] ~= instance and known and math.abs(now - known.seen) <= LIMIT.workerIdMs then
  return F.unchanged({ 'taken' })
end
local lists
if assigned ~= '' or steal ~= '' then
  lists = cmsgpack.pack({ assignedList = assigned ~= '' and assigned or nil, stealList = steal ~= '' and steal or nil })
end
local kept = {}
for queueName in string.gmatch(queues, '[^,]+') do
  kept[K.pair(queueName, assigned)], kept[K.pair(queueName, steal)] = true, true
end
if was[1] then Lists.leaveLists(worker, kept) end
if known and Line.stands(known.line) then
  Line.leaveLines(known)
elseif known and known.line == LINE.handed and why == 'start' then
  -- One before it was handed a task, and its attempt is lost as any other once it was fetched.
  if redis.call('EXISTS', K.wake(worker)) == 1 then HandOver.takeBack(known) end
  known.line = false
end

-- Behind an outage, or a step of the clock, those that live have not spoken yet.
local gone = (why == 'again' or now < C.pause) and NONE or redis.call('ZRANGEBYSCORE', K.workers(), '-inf',
  now - LIMIT.unknownTaskMs, 'LIMIT', 0, LIMIT.goneWorkers)
for _, id in ipairs(gone) do
  local silent = F.workerOf(id)
  -- Not the one that comes: a request of its own, sent again, is answered as the first time.
  if id ~= worker and (not silent or now - silent.seen > LIMIT.unknownTaskMs) then
    Lists.leaveLists(id)
    if silent and silent.line then Line.leaveLines(silent) end
    F.forgetWorker(id)
    F.move('listed-workers', id, false)
  end
end

local goesOn = why ~= 'start' and was[3]
redis.call('HSET', key, FIELD.worker.spec, spec, FIELD.worker.names, names, FIELD.worker.queues, queues,
  FIELD.worker.began, goesOn or now)
if not known then
  known = { id = worker, key = key, field = FIELD.clock.worker .. worker, succeeded = 0, last = '', request = '', line = false, isTouched = false }
  knownWorkers[worker] = known
end
known.seen, known.announced, known.flags = now, C.steps, lists and FLAG.worker.lists or 0
if not goesOn then known.succeeded = 0 end
F.touchWorker(known)
if instance ~= '' then
  redis.call('HSET', key, FIELD.worker.instance, instance)
else
  redis.call('HDEL', key, FIELD.worker.instance)
end
if not goesOn then redis.call('HDEL', key, FIELD.worker.failed, FIELD.worker.lost) end
if not goesOn then Due.begins(worker) end
if lists then redis.call('HSET', key, FIELD.worker.lists, lists) else redis.call('HDEL', key, FIELD.worker.lists) end
redis.call('ZADD', K.workers(), now, worker)
if assigned ~= '' or (steal ~= '' and steal ~= 'any') then
  F.move('listed-workers', worker, now)
else
  F.move('listed-workers', worker, false)
end
if C.dropping > 0 then Lists.dropLists(LIMIT.listNamesAtOnce) end
F.writeStep()
F.closeStep()
return { 'ok' }
