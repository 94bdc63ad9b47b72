-- Streams of tasks: see src/backends/redis/lua/runs/append.lua, which adds to them.

-- What is known of a stream of which nothing is: told anew of what it holds.
function Streams.found(key)
  local next_, first, bytes = 0, 0, 0
  for at_, entry in ipairs(redis.call('XRANGE', key, '-', '+')) do
    local offset = tonumber(string.match(entry[1], '^%d+'))
    if at_ == 1 then first = offset - (tonumber(string.match(entry[2][2], '^%a+ (%d+)')) or 1) end
    next_, bytes = offset, bytes + #entry[2][2] + #(entry[2][4] or '')
  end
  return next_ .. ' ' .. first .. ' ' .. bytes .. ' 0'
end

-- Takes all streams of a task away.
function Streams.forget(id)
  local states = K.streams(id)
  local gone = { states }
  for _, field in ipairs(redis.call('HKEYS', states)) do
    local name = string.match(field, '^' .. FIELD.streams.state .. '(.+)$')
    if name then gone[#gone + 1] = K.stream(id, name) end
  end
  redis.call('UNLINK', unpack(gone))
end
