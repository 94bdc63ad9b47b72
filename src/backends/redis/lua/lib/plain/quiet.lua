-- Looks whether maintenance, which a lease brings along, has nothing to do.

-- Whether no ended task is old enough to go; `keep` as in lib/due-parts.lua.
local function plainKept(clock, keep)
  local finished, failed, canceled =
    clock[CLOCK_FINISHED], clock[CLOCK_FAILED], clock[CLOCK_CANCELED]
  if math.min(finished, failed, canceled) > now - LIMIT.resendMs then return true end
  local a, b, c = string.match(keep, '^(%d+):,(%d+):,(%d+):$')
  return a and finished > now - a and failed > now - b and canceled > now - c
end

local function plainQuiet(clock, keep)
  return clock[CLOCK_STARTED] > now and clock[CLOCK_SCHEDULED] > now
    and clock[CLOCK_THROTTLED] > now and clock[CLOCK_DEADLINES] > now
    and clock[CLOCK_SCHEDULES] > now and clock[CLOCK_SUBMISSIONS] > now
    and clock[CLOCK_XCOM] > now and clock[CLOCK_IDLE] == 0 and clock[CLOCK_DROPPING] == 0
    and clock[CLOCK_REFRESH] == 0 and clock[CLOCK_LISTED] >= now - LIMIT.workerSilenceMs
    and plainKept(clock, keep)
end
