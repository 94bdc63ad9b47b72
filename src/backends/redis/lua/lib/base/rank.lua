-- Finds places in sorted sets, so that a listing goes on where its last page ended.

-- Rank of the first member behind (score, id), which need not be inside any more.
function F.rankBehind(key, score, id)
  local low = redis.call('ZCOUNT', key, '-inf', '(' .. score)
  local high = redis.call('ZCOUNT', key, '-inf', score)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local other = redis.call('ZRANGE', key, middle, middle)[1]
    if other == id or F.before(other, id) then low = middle + 1 else high = middle end
  end
  return low
end
