-- The line of a user on the short path: only one of its levels has work, so its shares between
-- levels come to one rule: the level's tag is max(v, last) + 1 / weight, and becomes both.

-- The level that has work; nil when several have.
local function plainLevel(u)
  if not u.level then
    for level = 1, 6 do
      if u.cnt[level] > 0 then
        if u.level then return end
        u.level = level
      end
    end
  end
  return u.cnt[u.level] == u.queued and u.level
end

-- What the level knows of earlier turns: v, last, a tag it may have got already, and, still packed,
-- what belongs to lower and to higher levels.
local function plainShares(u)
  local raw = u.shares
  local shares = { v = 0, last = 0, tag = 0, crit = 0, lower = '', higher = '' }
  u.share = shares
  if not raw then return shares end
  local from
  shares.v, shares.crit, from = struct.unpack('<dI', raw)
  while from <= #raw do
    local level, last, tag, next_ = struct.unpack('<Bdd', raw, from)
    if level == u.level then
      shares.last, shares.tag = last, tag
    elseif level < u.level then
      shares.lower = shares.lower .. string.sub(raw, from, next_ - 1)
    else
      shares.higher = shares.higher .. string.sub(raw, from, next_ - 1)
    end
    from = next_
  end
  return shares
end

-- The level has had a turn.
local function plainServed(lane, u)
  local shares, level = u.share or plainShares(u), u.level
  if level == 6 then
    shares.crit = shares.crit + 1
    return
  end
  local tag = shares.tag
  if tag == 0 then
    tag = (shares.last > shares.v and shares.last or shares.v)
      + 1 / lane.levelWeights[level]
  end
  shares.crit, shares.v, shares.last, shares.tag = 0, tag, tag, 0
end

local function packPlainShares(u)
  local shares, own = u.share, ''
  if u.level < 6 then own = struct.pack('<Bdd', u.level, shares.last, shares.tag) end
  return struct.pack('<dI', shares.v, shares.crit) .. shares.lower .. own .. shares.higher
end

-- The next id in line and its score, read several at once when the user has several turns.
local function plainHead(lane, u, turns)
  local heads = u.heads
  local at_ = u.taken * 2 - u.from * 2 + 1
  if not heads or not heads[at_] then
    local most = math.ceil(turns * u.w / math.max(lane[LANE_W], u.w))
    if most > u.queued then most = u.queued end
    local key = u.level == 6 and K.critical(lane.p, u.name) or K.normal(lane.p, u.name)
    heads = redis.call('ZRANGE', key, u.taken, u.taken + most - 1, 'WITHSCORES')
    u.heads, u.from, u.line = heads, u.taken, key
    at_ = 1
  end
  return heads[at_], heads[at_ + 1]
end
