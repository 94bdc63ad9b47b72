-- Writes the text of a task that never changes (lib/task.lua), in pieces of 64 bytes while there are
-- at most three, so that the hash stays one small block of memory.

-- `x`: rare facts, packed, if any.
local function storeText(key, f, long, x)
  if x then redis.call('HSET', key, 'x', x) end
  if long then
    redis.call('HSET', key, 'f', f, 'p', long)
  elseif #f > 192 then
    redis.call('HSET', key, 'f', f)
  elseif #f > 128 then
    redis.call('HSET', key, 'f', string.sub(f, 1, 64), 'g', string.sub(f, 65, 128), 'h',
      string.sub(f, 129))
  else
    redis.call('HSET', key, 'f', string.sub(f, 1, 64), 'g', string.sub(f, 65))
  end
end

-- Rare facts of a task that has no others than the run that it belongs to, packed; nil for others.
local function packedOwner(spec)
  local owner = string.match(spec, '^{"o":"([^"\\]+)"}$')
  return owner and cmsgpack.pack({ o = owner }), owner
end
