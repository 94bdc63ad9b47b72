-- Shares a user's turns between its levels, as src/domain/fairness/priority-shares.ts
-- does: test/redis/rules.test.ts holds both to the same bits.

-- Turns of the levels 1 to 5 while all have work.
local WEIGHTS = LIMIT.priorityWeights

-- The level whose head is next; 0 when nothing waits.
function F.nextLevel(u)
  local best, least, cnt, shares = 0, 0, u.cnt, F.sharesOf(u)
  local waited, weights = shares.waited, u.queue.config.priorityWeights or WEIGHTS
  for level = 5, 1, -1 do
    if cnt[level] > 0 then
      local left = math.max(0, 1 / weights[level] - waited[level])
      if best == 0 or left < least then best, least = level, left end
    end
  end
  if cnt[6] == 0 then return best end
  local burst = u.queue.config.criticalBurst
  if burst and shares.crit >= burst and best > 0 then return best end
  return 6
end

-- Its counts are those of before the turn.
function F.served(u, level)
  local shares, cnt = F.sharesOf(u), u.cnt
  if level == 6 then
    shares.crit = shares.crit + 1
    return
  end
  local waited, weights = shares.waited, u.queue.config.priorityWeights or WEIGHTS
  local passed = math.max(0, 1 / weights[level] - waited[level])
  shares.crit = 0
  for other = 1, 5 do
    if cnt[other] > 0 then waited[other] = waited[other] + passed end
  end
  waited[level] = 0
end

-- A task comes to a user that has none in line: its critical turns are no longer in a row.
function F.began(u)
  if u.shares or u.raw then F.sharesOf(u).crit = 0 end
end

-- Whether shares are others than those of a user that only ever had tasks of level 3.
function F.hasShares(u)
  local shares = F.sharesOf(u)
  return shares.crit > 0 or shares.waited[3] > 0
end

-- A level that runs empty has not waited, also where its tasks were canceled.
function F.emptied(u, level)
  if level == 6 or not (u.shares or u.raw) then return end
  F.sharesOf(u).waited[level] = 0
end
