-- Registers some names of a worker's list in a queue; the last step makes the list whole.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  worker  its id
-- ARGV[2]  queueName the queue
-- ARGV[3]  list    id of the list
-- ARGV[4]  write   '0': only look whether each user may be on one list more
-- ARGV[5]  last    '1': these are the last names
-- ARGV[6..]  names  users
-- Returns  {'ok'}, {'known'} when the list was whole already, {'gone'} when the worker has it no more, {'full', user}
-- Cost     O(names × log users)

F.readAll()
local worker, queueName, list, write, last = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local queue = F.queueOf(queueName)
local key, pair = K.list(queue.prefix, list), K.pair(queueName, list)
local dropping = C.dropping > 0 and redis.call('SISMEMBER', K.dropping(), pair) == 1
local got = redis.call('HMGET', key, FIELD.list.whole, FIELD.list.least)
if write == '1' then
  redis.call('DEL', K.oom())
  -- It has left while its lists were written, or come with others.
  if not Lists.has(worker, list) then return { 'gone' } end
  -- From the first names on: a list whose only worker dies before it is whole is dropped like others.
  redis.call('SADD', K.listWorkers(queue.prefix, list), worker)
end
if got[1] and not dropping then return { 'known' } end

local function isOn(u)
  for _, other in ipairs(u.lists or {}) do
    if other == list then return true end
  end
  return false
end

if write ~= '1' then
  for i = 6, #ARGV do
    local u = F.userOf(queue, ARGV[i])
    if u.lists and #u.lists >= LIMIT.listsPerUser and not isOn(u) then
      return { 'full', ARGV[i] }
    end
  end
  return { 'ok' }
end

if dropping then
  redis.call('SREM', K.dropping(), pair)
  C.dropping = redis.call('EXISTS', K.dropping())
  redis.call('HDEL', key, FIELD.list.whole)
end
local least = tonumber(got[2] or INF)
for i = 6, #ARGV do
  local u = F.userOf(queue, ARGV[i])
  redis.call('SADD', K.listNames(queue.prefix, list), u.name)
  if not isOn(u) then
    -- Before: where it stands when it has become ready does not depend on a list that only begins.
    F.reindex(u)
    local lists = u.lists or {}
    local more = { unpack(lists) }
    more[#more + 1] = list
    Lists.changeLists(u, more)
  end
  if u.ready then least = math.min(least, F.startOf(u)) end
end
if last == '1' then
  local start = least < INF and least or queue.virtual
  redis.call('HSET', key, FIELD.list.whole, '1', FIELD.list.clock, string.format('%.17g', start), FIELD.list.epoch, queue.epoch)
elseif least < INF then
  redis.call('HSET', key, FIELD.list.least, string.format('%.17g', least))
end
F.writeStep()
F.closeStep()
return { 'ok' }
