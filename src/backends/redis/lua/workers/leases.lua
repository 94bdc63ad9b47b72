-- Tells leases of workers, of each when its task falls back and when it came: a part of them, as many as one
-- script may look at. In no order; one may be told twice.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  cursor  among the leases of the first worker, as the part before told it; '0' to begin
-- ARGV[2..]  workers
-- Returns  how many workers are done with, the cursor among the leases of the next; then id, lease end and stamp
--          of arrival of each
-- Cost     O(leases looked at), within LIMIT.scriptUnits

F.readAll()
-- What a lease takes of the budget.
local LEASE_UNITS = 0.2

local cursor, reply, n = ARGV[1], { 0, '0' }, 2
for i = 2, #ARGV do
  repeat
    if F.isSpent() then
      reply[1], reply[2] = i - 2, cursor
      return reply
    end
    local rows, ids = nil, {}
    cursor, rows = unpack(redis.call('HSCAN', K.hot(ARGV[i]), cursor, 'COUNT', LIMIT.leasedStep))
    for at_ = 1, #rows, 2 do ids[#ids + 1] = rows[at_] end
    local texts = #ids > 0 and redis.call('HMGET', K.tasks(), unpack(ids)) or NONE
    for at_ = 1, #texts do
      if texts[at_] then
        local _, till = struct.unpack(FORMAT.lease, rows[2 * at_])
        reply[n + 1], reply[n + 2] = ids[at_], string.format('%.0f', till)
        reply[n + 3] = tonumber(string.sub(texts[at_], AT.text.stamp, END.text.stamp), 16)
        n = n + 3
      end
    end
    F.spend(LEASE_UNITS * #ids + 0.5, 0)
  until cursor == '0'
end
reply[1] = #ARGV - 1
return reply
