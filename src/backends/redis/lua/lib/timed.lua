-- Charges turns by time, in queues that ask for it; restates the end of domain/fair-share.ts.
-- @rare

-- What the turn costs before it is known how long it takes, in seconds.
function Timed.charge(t, u)
  local cost = u.mean or u.lane.mean or 1
  F.rareOf(t).ch = cost
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
  local charged = t.y and t.y.ch
  if not charged then return end
  F.rareOf(t).ch = nil
  if t.chargedEpoch ~= lane.epoch or u.ep ~= lane.epoch then return end
  local before = u.s - Tag.turn(charged)
  local s = Tag.raise(before + Tag.turn(held), lane.v * Tag.scale(u.w) - Tag.turn(charged))
  if u.ready then F.indexUser(u, false) end
  u.s = s
  if u.ready then F.indexUser(u, true) end
end

-- The queue begins to charge by something else: tags of before are worth a turn at most.
function Timed.recount(u)
  local lane = u.lane
  F.indexUser(u, false)
  local most = lane.v * Tag.scale(u.w) + TURN
  if u.s > most then u.s = u.s - math.ceil((u.s - most) / SEATS) * SEATS end
  u.ep = lane.epoch
  F.indexUser(u, true)
end
