-- Names the two sets of a user's line, and the places in them.

local BAND = 140737488355328 -- 2^47: one level's part of the scores in `normal`
local ROOT = 70368744177664 -- 2^46: tasks stand behind members of groups in their level

function F.levelKey(u, level)
  if level == 6 then return K.critical(u.lane.p, u.name) end
  local key = u.normal
  if not key then
    key = K.normal(u.lane.p, u.name)
    u.normal = key
  end
  return key
end

function F.levelScore(level, seq)
  if level == 6 then return seq end
  return (6 - level) * BAND + ROOT + seq
end
