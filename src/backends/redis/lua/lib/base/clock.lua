-- Saves what the namespace remembers from step to step.

-- When maintenance that no index of leases tells of has something to do; 0: at once.
function F.upkeepAt()
  if H.cascade < INF or C.dropping > 0 or C.refresh > 0 or C.pause > now then return 0 end
  return math.min(C.due, H.submissions, H['xcom-ends'], H['listed-workers'] + LIMIT.workerSilenceMs)
end

function F.packClock()
  local flags = (C.configs > 0 and FLAG.clock.configs or 0) + (C.idle > 0 and FLAG.clock.idle or 0)
    + (H.missing < INF and FLAG.clock.missing or 0)
  local packed = struct.pack(FORMAT.clock, now, H.started, H.finished, H.failed, H.canceled, C.due, C.upkeep, C.stamp,
    C.steps + 1, C.waiting, C.ears, flags)
  if C.alarms == ',' then return packed end
  return packed .. struct.pack('<d', C.alarm) .. C.alarms
end

function F.saveClock()
  local call, upkeep = C.quiet and redis.pcall or redis.call, nil
  if whole then
    C.due = math.min(H['scheduled-users'], H.throttled, H.deadlines, H['schedules:due'])
    C.upkeep = F.upkeepAt()
    upkeep = struct.pack(FORMAT.upkeep, C.pause, H['scheduled-users'], H.throttled, H.deadlines, H.cascade,
      H['listed-workers'], H.submissions, H.missing, C.configs, C.dropping, C.refresh, H['schedules:due'], H['xcom-ends'])
    if upkeep == upkeepBefore then upkeep = nil end
  end
  local packed, n = F.packClock(), #saving
  for i = 1, #touchedWorkers do
    local worker = touchedWorkers[i]
    if not worker.isGone then
      worker.packed = F.packWorker(worker)
      saving[n + 1], saving[n + 2] = worker.field, worker.packed
      n = n + 2
    end
    worker.isTouched = false
  end
  if upkeep then
    saving[n + 1], saving[n + 2] = FIELD.clock.upkeep, upkeep
    n = n + 2
  end
  if n == 0 then
    call('HSET', KEYS[1], FIELD.clock.numbers, packed)
  elseif n == 2 then
    call('HSET', KEYS[1], FIELD.clock.numbers, packed, saving[1], saving[2])
  elseif n == 4 then
    call('HSET', KEYS[1], FIELD.clock.numbers, packed, saving[1], saving[2], saving[3], saving[4])
  elseif n < LIMIT.commandValues then
    call('HSET', KEYS[1], FIELD.clock.numbers, packed, unpack(saving))
  else
    for i = 1, n, LIMIT.commandValues do call('HSET', KEYS[1], unpack(saving, i, math.min(n, i + LIMIT.commandValues - 1))) end
    call('HSET', KEYS[1], FIELD.clock.numbers, packed)
  end
  if whole then
    saving, touchedWorkers = {}, {}
    return
  end
  for i = 1, #touchedWorkers do F.keep(touchedWorkers[i].key, touchedWorkers[i]) end
  C.seen, C.steps, C.freed, C.begun = now, C.steps + 1, false, false
  C.packed = packed
  F.keep(KEYS[1], C)
  for i = 1, #touched do
    local queue = touched[i]
    queue.isTouched, queue.gain, queue.readEpoch, queue.fresh = false, 0, queue.epoch, false
    F.keep(queue.prefix, queue)
  end
end

-- Ends a step that has changed nothing: it is remembered that there was one. Out of memory is no
-- reason not to answer.
function F.unchanged(reply)
  C.quiet = true
  F.saveClock()
  return reply
end
