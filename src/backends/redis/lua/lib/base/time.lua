-- Settles what the time is, and unpacks what the namespace remembers from step to step.
-- `now` never runs back by less than 5 s. H holds the least score of each index that falls due, so
-- that a step knows without asking whether maintenance has anything to do.

-- @include lib/moment.lua

local H = { started = INF, ['scheduled-users'] = INF, throttled = INF, deadlines = INF,
  cascade = INF, finished = INF, failed = INF, canceled = INF, ['listed-workers'] = INF,
  submissions = INF, missing = INF, ['schedules:due'] = INF, ['xcom-ends'] = INF }
local C = { seen = 0, pause = 0, waiting = 0, alarm = INF, configs = 0, idle = 0, dropping = 0,
  refresh = 0, steps = 0, stamp = 0, ears = 0,
  alarms = saved[2] or ',' }
if saved[1] then
  C.seen, C.pause, H.started, H['scheduled-users'], H.throttled, H.deadlines, H.cascade,
    H.finished, H.failed, H.canceled, H['listed-workers'], H.submissions, H.missing,
    C.waiting, C.alarm, C.configs, C.idle, C.dropping, C.refresh,
    C.steps, H['schedules:due'], H['xcom-ends'], C.stamp, C.ears = struct.unpack(FORMAT.clock, saved[1])
elseif redis.call('EXISTS', K.tasks(), K.queues(), K.workers()) > 0 then
  -- What it would say is in force, and nothing here says it: the script is run again behind guard.lua.
  error('the clock is lost')
end
-- Whether earlier steps have left dependents to be told.
C.isOlder = H.cascade < INF
if C.seen - now > LIMIT.clockStepMs then
  C.pause = math.min(C.pause, now + LIMIT.outagePauseMs)
  C.dropping = 1
elseif C.seen > now then
  now = C.seen
end
-- Not again before a step has come after the pause: calls may be as rare as this.
if C.pause <= C.seen and C.seen > 0 and now - C.seen > LIMIT.outageMs then
  C.pause = now + LIMIT.outagePauseMs
end
if micros < now * 1000 then micros = now * 1000 end

-- A number that no other has, greater than all before: places in line, and the order of arrival.
function F.stamp()
  C.stamp = C.stamp + 1
  return C.stamp
end
