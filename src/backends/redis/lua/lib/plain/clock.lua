-- The short path of enqueue, lease and settle: steps in which everything is plain, as nearly all
-- are, without the functions and tables of the long one. It reads all it needs first; when anything
-- is not plain it gives up, nothing written, and the long path takes the step. Both do the same;
-- the long one is the law (docs/adr/0012).
--
-- This file: what the namespace remembers, as an array in the order of CLOCK.

local CLOCK_SEEN, CLOCK_PAUSE, CLOCK_STARTED, CLOCK_SCHEDULED = 1, 2, 3, 4
local CLOCK_THROTTLED, CLOCK_DEADLINES, CLOCK_CASCADE, CLOCK_FINISHED = 5, 6, 7, 8
local CLOCK_FAILED, CLOCK_CANCELED, CLOCK_LISTED, CLOCK_SUBMISSIONS = 9, 10, 11, 12
local CLOCK_MISSING, CLOCK_WAITING, CLOCK_ALARM, CLOCK_IDLE, CLOCK_DROPPING = 13, 14, 15, 17, 18
local CLOCK_REFRESH, CLOCK_STEPS, CLOCK_SCHEDULES, CLOCK_XCOM = 19, 20, 21, 22

-- nil when somebody waits to be woken, a cascade is under way, or the clock has jumped.
local function plainClock()
  if not saved[1] then return end
  local clock = { struct.unpack(CLOCK, saved[1]) }
  local passed = now - clock[CLOCK_SEEN]
  if passed < 0 or passed > LIMIT.outageMs or clock[CLOCK_WAITING] > 0
    or clock[CLOCK_CASCADE] < INF then
    return
  end
  clock[CLOCK_SEEN] = now
  clock[CLOCK_STEPS] = clock[CLOCK_STEPS] + 1
  return clock
end

-- A worker that leases is awake, so it holds no alarm (lib/alarm.lua).
local function plainAwake(clock, worker)
  local alarms = saved[2] or ','
  if alarms == ',' then return end
  local comma = string.find(alarms, ',', 1, true)
  local one, two = string.sub(alarms, 1, comma - 1), string.sub(alarms, comma + 1)
  if one == worker then
    clock.alarms, clock[CLOCK_ALARM] = ',' .. two, INF
  elseif two == worker then
    clock.alarms = one .. ','
  end
end

local function savePlainClock(clock)
  local packed = struct.pack(CLOCK, unpack(clock, 1, CLOCK_XCOM))
  if clock.alarms then
    redis.call('HSET', KEYS[1], 's', packed, 'a', clock.alarms)
  else
    redis.call('HSET', KEYS[1], 's', packed)
  end
end
