-- Reads the server's clock once per step, and what the namespace remembers, still packed.

local prefix = string.sub(KEYS[1], 1, -6)
local at = redis.call('TIME')
local micros = at[1] * 1000000 + at[2]
local now = math.floor(micros / 1000)
local saved = redis.call('HMGET', KEYS[1], FIELD.clock.numbers, FIELD.clock.alarms)
local INF = math.huge

-- Settings of who has none; never written to.
local NONE = {}
