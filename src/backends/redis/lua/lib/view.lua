-- Keeps the first members of a sorted set at hand while turns are dealt out. At most as many
-- members change as there are turns left, so the first turns + 1 always hold the true head.
-- A view is what was read (names, scores, from `at` on) and, beside it, members that have changed
-- since (moved; those that are still inside stand in order in late, lateScores, from `lateAt` on).
-- Ties go by bytes.
-- @include lib/bytes.lua

function F.before(a, b)
  if byBytes then return a < b end
  local n = math.min(#a, #b)
  for i = 1, n do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

-- Takes a member out of those that have changed.
function F.dropLate(view, member)
  local late = view.late
  if late[view.lateAt] == member then
    view.lateAt = view.lateAt + 1
    return
  end
  for i = view.lateAt + 1, #late do
    if late[i] == member then
      table.remove(late, i)
      table.remove(view.lateScores, i)
      return
    end
  end
end

function F.updateView(view, member, score)
  if view.moved[member] then
    F.dropLate(view, member)
  else
    view.moved[member] = true
    view.changes = view.changes + 1
  end
  if not score then return end
  -- From behind: whoever was served comes after those who were served before it, mostly.
  local late, scores, at = view.late, view.lateScores, view.lateAt
  local place = #late + 1
  while place > at do
    local other = scores[place - 1]
    if other < score or (other == score and F.before(late[place - 1], member)) then break end
    late[place], scores[place] = late[place - 1], other
    place = place - 1
  end
  late[place], scores[place] = member, score
end

function F.readView(key, turns)
  F.flushKey(key)
  local got = redis.call('ZRANGE', key, 0, turns, 'WITHSCORES')
  local view = { got = got, at = 1, late = {}, lateScores = {}, lateAt = 1, moved = {},
    turns = turns, changes = 0, whole = #got / 2 <= turns }
  views[key] = view
  return view
end

-- Whether other members may have the score of the first one, which was asked for just now.
-- @rare
function F.isTied(key, score)
  local view, n = views[key], 0
  local got, at = view.got, view.at
  while got[at] and tonumber(got[at + 1]) == score do
    if not view.moved[got[at]] then n = n + 1 end
    at = at + 2
  end
  if not got[at] and not view.whole then return true end
  at = view.lateAt
  while view.lateScores[at] == score do
    n = n + 1
    at = at + 1
  end
  return n > 1
end

-- The first member of a set and its score, after everything that this step has changed.
function F.first(key, turns)
  local view = views[key]
  if not view or (view.changes > view.turns and not view.whole) then
    view = F.readView(key, turns)
  end
  local got, moved = view.got, view.moved
  local at = view.at
  while got[at] and moved[got[at]] do at = at + 2 end
  view.at = at
  local name, score = got[at], tonumber(got[at + 1])
  local late, lateScore = view.late[view.lateAt], view.lateScores[view.lateAt]
  if not late then
    if name or view.whole then return name, score end
    views[key] = nil
    return F.first(key, turns)
  end
  if not name or lateScore < score or (lateScore == score and F.before(late, name)) then
    return late, lateScore
  end
  return name, score
end
