-- Whose turn it is, on the short path: WF2Q+ as in lib/choose.lua, over what stands in front of
-- each class. A class is read once per step: as many users as there are turns, and one more, so
-- that the true head is always among them.
-- @include lib/bytes.lua

-- The front of every class: names in order of their tags, from `at` on. nil when Lua does not
-- order names by their bytes (lib/view.lua), or a class is not plain.
local function plainFronts(lane, turns)
  if not byBytes then return end
  local fronts = {}
  for class in pairs(plainClasses(lane)) do
    local weight = string.match(class, '^ow(%d+)$')
    if not weight then return end
    local got = redis.call('ZRANGE', K.ready(lane.p, class), 0, turns, 'WITHSCORES')
    local names, tags = {}, {}
    for i = 1, #got, 2 do
      names[#names + 1] = got[i]
      tags[#names] = tonumber(got[i + 1])
    end
    local front = { names = names, tags = tags, at = 1, step = 100 / weight, scale = scaleOf(weight) }
    fronts[#fronts + 1], fronts[class] = front, front
  end
  return fronts
end

-- Puts a user where its tag says, looking from behind.
local function plainStand(front, name, tag)
  local names, tags, place = front.names, front.tags, #front.names + 1
  while place > front.at do
    local other = tags[place - 1]
    if other < tag or (other == tag and names[place - 1] < name) then break end
    names[place], tags[place] = names[place - 1], other
    place = place - 1
  end
  names[place], tags[place] = name, tag
end

-- The front whose head has the next turn, after virtual time has jumped to the least tag.
local function plainTurn(lane, fronts)
  local least = INF
  for i = 1, #fronts do
    local front = fronts[i]
    local tag = front.tags[front.at]
    front.start = tag and (tag == 0 and 0 or tag / front.scale)
    if tag and front.start < least then least = front.start end
  end
  if least == INF then return end
  local v = lane[LANE_V]
  if least > v then
    v = least
    lane[LANE_V] = v
  end
  local best, bestFinish
  for i = 1, #fronts do
    local front = fronts[i]
    local start = front.start
    if start and start <= v + front.step * SLACK then
      local finish = start + front.step
      -- Of the same finish and the same start would be one weight.
      if not best or finish < bestFinish or (finish == bestFinish and start < best.start) then
        best, bestFinish = front, finish
      end
    end
  end
  return best
end
