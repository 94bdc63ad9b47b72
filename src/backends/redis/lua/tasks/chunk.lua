-- Stores one part of a batch that is too large for one script; all or none of the part.
--
-- KEYS[1]  clock       hash
-- ARGV[1]  submission  names the batch
-- ARGV[2]  index       which part, from 0
-- ARGV[3]  store       '0': only look whether it would be refused
-- ARGV[4]  context     JSON: users of the batch's tasks outside of this part that it names, and
--                      which of its own tasks earlier parts have named; and the token and the id
--                      of a lease that must be in force, if any, parted by NUL
-- ARGV[5..]  items     as for enqueue
-- Returns  {'gone'} when the submission is over, else 'ok' and a reply for each item, as enqueue; but
--          'w' for one that was created and that others waited for: whether it closes a cycle is to be
--          asked when all parts are stored
-- Cost     O(items × log tasks)

F.readAll()
local submission, index, store = ARGV[1], ARGV[2], ARGV[3]
local context = cjson.decode(ARGV[4])
local key = K.submit(submission)
local state = redis.call('HMGET', key, FIELD.submit.next, FIELD.submit.reply .. index, FIELD.submit.undone)

local function answer(replies)
  table.insert(replies, 1, 'ok')
  return replies
end

if state[2] then return answer(cjson.decode(state[2])) end
if state[3] or (store == '1' and tostring(state[1] or '0') ~= index) then return { 'gone' } end

local items = Store.readItems(5)
if context.fence and not Store.isFenced(context.fence) then return answer(Store.loseLease(items)) end
Store.submission, Store.users = submission, context.users
Store.named = {}
for _, id in ipairs(context.named) do Store.named[id] = true end
Store.expireFirst(items)
local replies = Store.storePart(items, store == '1')
if Store.wrote then
  local ids = {}
  for i, id in ipairs(Store.kept) do ids[i] = id end
  for i = 1, #ids, LIMIT.commandValues do
    redis.call('RPUSH', K.submitted(submission), unpack(ids, i, math.min(#ids, i + (LIMIT.commandValues - 1))))
  end
end
local isStored = store == '1' and not Store.refusedPart
if isStored then
  redis.call('HSET', key, FIELD.submit.next, index + 1, FIELD.submit.reply .. index, cjson.encode(replies))
  F.move('submissions', submission, now + LIMIT.submissionMs)
end
if isStored or Store.wrote then
  Step.saveTasks()
  F.cascade(LIMIT.cascadeStep)
  F.writeStep()
  F.closeStep()
end
return answer(replies)
