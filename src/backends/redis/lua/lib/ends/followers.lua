-- Counts failed tasks that only followed another: those that are kept, and ever. Dead letters are the
-- others.
-- @rare

function F.countFollower(t, queue, change)
  local cause = t.changing and t.changing.endCause and cjson.decode(t.changing.endCause)
  if not cause or not (cause.type == 'upstream' or cause.task) then return end
  local key = K.fair(queue.prefix)
  redis.call('HINCRBY', key, FIELD.fair.followers, change)
  if change > 0 then redis.call('HINCRBY', key, FIELD.fair.followed, change) end
end
