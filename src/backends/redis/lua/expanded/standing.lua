-- Tells how tasks stand, and what they came to, without the rest of their records.
--
-- KEYS[1]  clock   hash
-- ARGV[1..]  ids   of tasks
-- Returns  four values for each id: the code of its state (lib/state.lua; 0 when it is unknown),
--          result, error and cause (JSON), each false where there is none
-- Cost     O(ids + bytes)

-- Builds the name of every key; nothing else does. `keys.ts` is its twin. Each is one expression,
-- which the bundler puts where it is called.
-- Fixed parts first, at most one free string, and that last (or before a fixed suffix); two free
-- strings are joined as <length>:<first><second>. `lane` is the prefix of a queue's own keys.

-- The pair of an id that is not stored and of who would have to store it.

-- An index of the whole namespace: by state, or by its own name.

-- A place of a value: the pair of its user and of the pair of namespace and key.

local clock = KEYS[1]
local prefix = string.sub(clock, 1, -6)
local reply, n = {}, 0
for i = 1, #ARGV do
  local key = (prefix .. 'task:' .. (ARGV[i]))
  local got = redis.call('HMGET', key, 's', 'r', 'e', 'y')
  local code = got[1] and string.byte(got[1])
  -- A record without numbers has been in line since it was stored.
  if not code then code = redis.call('HEXISTS', key, 'f') == 1 and 3 or 0 end
  reply[n + 1], reply[n + 2], reply[n + 3] = code, got[2], got[3]
  reply[n + 4] = got[4] and cmsgpack.unpack(got[4]).ca or false
  n = n + 4
end
return reply
