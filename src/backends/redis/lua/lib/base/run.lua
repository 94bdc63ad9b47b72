-- Runs a verb: what FCALL and EVALSHA begin with. `begin` sets what stands at the top of the files of this room and is a
-- step's own; `F.beginAll`, which `F.readAll` calls, what stands at the top of the others.

-- In front of the word stands `!` or `?` for a call with care: see lib/damage/guard.lua.
local function run(word, keys, args)
  local real = redis
  KEYS, ARGV, guard, redisCall, redisPcall = keys, args, nil, real.call, real.pcall
  local verb = V[word]
  if not verb then
    guard, verb = F.guardOf(real, string.sub(word, 1, 1) == '?'), V[string.sub(word, 2)]
    redisCall = guard.call
  end
  begin()
  return verb()
end
