-- Saves what the namespace remembers from step to step.

function F.saveClock()
  local call = C.quiet and redis.pcall or redis.call
  local packed = struct.pack(FORMAT.clock, now, C.pause, H.started, H['scheduled-users'], H.throttled,
    H.deadlines, H.cascade, H.finished, H.failed, H.canceled, H['listed-workers'], H.submissions,
    H.missing, C.waiting, C.alarm, C.configs, C.idle, C.dropping, C.refresh,
    C.steps + 1, H['schedules:due'], H['xcom-ends'], C.stamp, C.ears)
  if C.alarms == (saved[2] or ',') then
    call('HSET', KEYS[1], FIELD.clock.numbers, packed)
  else
    call('HSET', KEYS[1], FIELD.clock.numbers, packed, FIELD.clock.alarms, C.alarms)
  end
end

-- Ends a step that has changed nothing: it is remembered that there was one. Out of memory is no
-- reason not to answer.
-- @rare
function F.unchanged(reply)
  C.quiet = true
  F.saveClock()
  return reply
end
