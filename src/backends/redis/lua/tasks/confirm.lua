-- Says that a worker has got the task that it was handed: the lease holds as long as any other.
--
-- KEYS[1]  clock     hash
-- ARGV[1]  worker    who has it
-- ARGV[2]  id        of the task
-- ARGV[3]  token     of the lease
-- ARGV[4]  lease_ms  from when it was given
-- Returns  {1}, or {0} when the lease has ended, or was confirmed before
-- Cost     O(1)

local worker, id, token, leaseMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local packed = redis.call('HGET', K.hot(worker), id)
if not packed or string.sub(packed, -#token - 1) ~= '\0' .. token
  or string.byte(packed, AT.lease.flags) < FLAG.lease.handed then return { 0 } end
local till = struct.unpack('<d', packed) + leaseMs
local kept = string.sub(packed, 1, END.lease.leasedAt) .. struct.pack('<d', till)
  .. string.sub(packed, AT.lease.epoch, END.lease.epoch)
  .. string.char(string.byte(packed, AT.lease.flags) - FLAG.lease.handed) .. string.sub(packed, AT.lease.step)
local put = redis.pcall('HSET', K.hot(worker), id, kept)
if type(put) == 'table' then
  -- The lease is there, and as long: memory that is full is no reason against it.
  redis.call('DEL', K.oom())
  redis.call('HSET', K.hot(worker), id, kept)
end
return { 1 }
