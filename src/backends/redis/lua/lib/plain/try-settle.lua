-- Nearly all calls end here.

local plainCount = tonumber(ARGV[2])
local plainLeased = plainStep(plainCount, 6 * plainCount + 3)
if plainLeased then
  local reply = { plainCount }
  for i = 1, plainCount do reply[i + 1] = 'ok finished' end
  for i = 1, #plainLeased do reply[plainCount + 1 + i] = plainLeased[i] end
  return reply
end
