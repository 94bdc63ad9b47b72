-- Adds to the series, with what queues have counted by now. It stands for itself until some are taken in together.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  rows     JSON, which is not read here
-- ARGV[2..]  queues
-- Returns  1 when it is time to take in what stands for itself
-- Cost     O(queues + bytes)

F.readAll()
local rows, key, counted = ARGV[1], K.seriesNew(), {}
for i = 2, #ARGV do
  local queue = F.queueOf(ARGV[i])
  counted[i - 1] = cjson.encode({ queue.name, queue.enqueued, queue.finished, queue.failed, queue.canceled, queue.retried,
    queue.lost })
end
local entry = string.format('%.0f', now) .. ' [' .. table.concat(counted, ',') .. ']\n' .. rows
local length = redis.call('RPUSH', key, entry)
-- No process has taken any in.
if length > LIMIT.seriesPending then redis.call('LTRIM', key, -LIMIT.seriesPending, -1) end
local oldest = tonumber(string.match(redis.call('LINDEX', key, 0), '^%d+')) or 0
return F.unchanged((length >= LIMIT.seriesTake or math.abs(now - oldest) >= LIMIT.seriesTakeMs) and 1 or 0)
