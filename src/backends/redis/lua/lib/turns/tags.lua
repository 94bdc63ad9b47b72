-- Counts tags in grains of their users' own turns; restates the first half of domain/fair-share.ts.

local TURN, SEATS, CROWD, SLACK = GRAINS.turn, GRAINS.seats, GRAINS.crowd, GRAINS.slack

-- Grains of a user of this weight in one unit of virtual time.
function Tag.scale(w) return w * TURN / 100 end

-- Where a tag stands in virtual time.
function Tag.start(tag, w) return tag == 0 and 0 or tag / Tag.scale(w) end

-- The least tag from `from` on that has the seat of `tag`.
function Tag.seated(tag, from) return tag + math.ceil((from - tag) / SEATS) * SEATS end

function Tag.raise(tag, least) return tag < least and Tag.seated(tag, least) or tag end

-- What a turn of this cost adds to a tag.
function Tag.turn(cost) return math.max(1, math.floor(cost * TURN / SEATS + 0.5)) * SEATS end

-- The tag that a user enters a class with, and what the class remembers of it. `kept`: the tag that
-- it has, 0 for none; `last`: what the class remembers of the one before.
function Tag.enter(kept, v, w, last)
  local floor, fresh = math.ceil(v * Tag.scale(w)), last + 1
  local next_ = fresh
  if next_ <= floor or next_ > floor + CROWD then fresh = Tag.seated(next_, floor) end
  return kept > fresh and Tag.seated(next_, kept) or fresh, fresh
end
