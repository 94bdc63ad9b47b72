-- Shares a user's turns between its levels, as src/domain/fairness/priority-shares.ts
-- does: test/redis/rules.test.ts holds both to the same bits.

-- Turns of the levels 1 to 5 while all have work.
local WEIGHTS = LIMIT.priorityWeights

-- The level whose head is next; 0 when nothing waits. A level with work gets its tag at first
-- sight.
function F.nextLevel(u)
  local best, bestTag, cnt, shares = 0, 0, u.cnt, F.sharesOf(u)
  for level = 5, 1, -1 do
    if cnt[level] > 0 then
      local tag = shares.tag[level]
      if tag == 0 then
        local last, weights = shares.last[level], u.queue.config.priorityWeights or WEIGHTS
        tag = (last > shares.virtual and last or shares.virtual) + 1 / weights[level]
        shares.tag[level] = tag
        F.touch(u)
      end
      if best == 0 or tag < bestTag then best, bestTag = level, tag end
    end
  end
  if cnt[6] == 0 then return best end
  local burst = u.queue.config.criticalBurst
  if burst and shares.crit >= burst and best > 0 then return best end
  return 6
end

function F.served(u, level)
  local shares = F.sharesOf(u)
  if level == 6 then
    shares.crit = shares.crit + 1
    return
  end
  shares.crit = 0
  shares.virtual = shares.tag[level]
  shares.last[level] = shares.virtual
  shares.tag[level] = 0
end

-- A task comes to a user that has none in line: its critical turns are no longer in a row.
function F.began(u)
  if u.shares or u.raw then F.sharesOf(u).crit = 0 end
end

-- Whether shares are others than those of somebody who only ever had tasks of level 3.
function F.hasShares(u)
  local shares, weights = F.sharesOf(u), u.queue.config.priorityWeights or WEIGHTS
  local tag = shares.tag[3]
  return shares.crit > 0 or (tag ~= 0 and tag ~= shares.virtual + 1 / weights[3])
end

-- A level that runs empty, whatever emptied it, loses its tag, and nothing else.
function F.emptied(u, level)
  if level == 6 or not (u.shares or u.raw) then return end
  F.sharesOf(u).tag[level] = 0
end
