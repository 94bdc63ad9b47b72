-- Ends a batch that was stored in parts: releases its tasks, or undoes it; one bounded step.
--
-- KEYS[1]  clock       hash
-- ARGV[1]  submission  names the batch
-- ARGV[2]  parts       how many it must have; '0' undoes it
-- Returns  {'more'}, {'done'}, or {'gone'} when it is not whole any more
-- Cost     O(250 × log tasks)

F.readAll()
local submission, parts = ARGV[1], ARGV[2]
local key = K.submit(submission)
local state = redis.call('HMGET', key, FIELD.submit.next, FIELD.submit.sealed, FIELD.submit.done)
if state[3] then return { 'done' } end
if not state[1] then return { parts == '0' and 'done' or 'gone' } end
redis.call('DEL', K.oom())
if parts == '0' then
  redis.call('HSET', key, FIELD.submit.undone, '1')
  F.move('submissions', submission, now)
elseif not state[2] then
  if state[1] ~= parts or redis.call('HEXISTS', key, FIELD.submit.undone) == 1 then return { 'gone' } end
  redis.call('HSET', key, FIELD.submit.sealed, '1')
  F.move('submissions', submission, now)
end
local more = Submission.step(submission, LIMIT.submissionStep)
F.writeStep()
F.closeStep()
return { more and 'more' or 'done' }
