-- Counts failed tasks that only followed another: those that are kept, and ever. Dead letters are the
-- others.
-- @rare

function F.countFollower(t, lane, change)
  local cause = t.y and t.y.ca and cjson.decode(t.y.ca)
  if not cause or not (cause.type == 'upstream' or cause.task) then return end
  local key = K.fair(lane.p)
  redis.call('HINCRBY', key, 'fo', change)
  if change > 0 then redis.call('HINCRBY', key, 'fe', change) end
end
