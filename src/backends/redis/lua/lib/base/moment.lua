-- What a call knows before it reads anything, and the moment, which is that of the server's clock.

local prefix = string.sub(KEYS[1], 1, -6)
local INF = math.huge
-- Settings of a queue or user without any; nothing is written to it.
local NONE = {}
local now, micros = nil, nil

function F.readTime()
  local at_ = redis.call('TIME')
  micros = at_[1] * 1000000 + at_[2]
  now = math.floor(micros / 1000)
end
