-- Charges turns by time, in queues that ask for it; restates the end of domain/fair-share.ts.
-- @rare

-- What the turn costs before it is known how long it takes, in seconds.
function Timed.charge(t, u)
  local cost = u.mean or u.lane.mean or 1
  F.rareOf(t).chargedAhead = cost
  return cost
end

-- A mean after one more value, in seconds.
function Timed.learn(of, held)
  of.mean = of.mean and of.mean + (held - of.mean) / 8 or held
  of.learned = true
end

-- A lease is over: its turn is charged by how long it was held.
function Timed.settle(t, u)
  local lane = u.lane
  local held = math.max(0, now - t.leasedAt) / 1000
  Timed.learn(u, held)
  Timed.learn(lane, held)
  local charged = t.changing and t.changing.chargedAhead
  if not charged then return end
  F.rareOf(t).chargedAhead = nil
  if t.chargedEpoch ~= lane.epoch or u.tagEpoch ~= lane.epoch then return end
  local before = u.startTag - Tag.turn(charged)
  local s = Tag.raise(before + Tag.turn(held), lane.virtual * Tag.scale(u.countedWeight) - Tag.turn(charged))
  if u.ready then F.indexUser(u, false) end
  u.startTag = s
  if u.ready then F.indexUser(u, true) end
end

-- The queue begins to charge by something else: tags of before are worth a turn at most.
function Timed.recount(u)
  local lane = u.lane
  F.indexUser(u, false)
  local most = lane.virtual * Tag.scale(u.countedWeight) + TURN
  if u.startTag > most then u.startTag = u.startTag - math.ceil((u.startTag - most) / SEATS) * SEATS end
  u.tagEpoch = lane.epoch
  F.indexUser(u, true)
end
