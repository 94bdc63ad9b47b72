-- Charges turns by time, in queues that ask for it.

-- What the turn costs before it is known how long it takes, in seconds.
function Timed.charge(t, u)
  local cost = Tag.expectedRun(u.mean, u.queue.mean)
  F.optionalOf(t).chargedAhead = cost
  return cost
end

-- A mean after one more value, in seconds.
function Timed.learn(of, seconds)
  of.mean = Tag.learned(of.mean, seconds)
  of.learned = true
end

-- A lease is over: its turn is charged by how long it was held.
function Timed.settle(t, u)
  local queue = u.queue
  local seconds = math.max(0, now - t.leasedAt) / 1000
  Timed.learn(u, seconds)
  Timed.learn(queue, seconds)
  local charged = t.changing and t.changing.chargedAhead
  if not charged then return end
  F.optionalOf(t).chargedAhead = nil
  if t.chargedEpoch ~= queue.epoch or u.tagEpoch ~= queue.epoch then return end
  Fluid.correct(u, Tag.correction(charged, seconds))
end

-- The queue begins to charge by something else: no user is ahead or behind by more than a turn.
function Timed.recount(u)
  local queue = u.queue
  F.indexUser(u, false)
  u.startTag = Tag.recountedTag(u.startTag, queue.virtual, u.countedWeight)
  u.tagEpoch = queue.epoch
  F.indexUser(u, true)
end
