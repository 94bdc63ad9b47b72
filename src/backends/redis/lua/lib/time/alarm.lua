-- Keeps the two holders of the alarm: idle workers that wake when something falls due.

function Due.holders()
  local comma = string.find(C.alarms, ',', 1, true)
  return string.sub(C.alarms, 1, comma - 1), string.sub(C.alarms, comma + 1)
end

-- A worker that leases is awake, so it holds no alarm; true when it was the first holder.
function Due.dropAlarm(worker)
  local one, two = Due.holders()
  if one == worker then
    C.alarms = ',' .. two
    C.alarm = INF
    return true
  end
  if two == worker then C.alarms = one .. ',' end
  return false
end

function Due.floor(spread)
  return math.floor(LIMIT.floorMs * (0.8 + 0.4 * spread))
end

-- How long a worker that stands in line may sleep: the first holder until the next due time, the
-- second a little longer, all others the floor, spread by `spread` in [0, 1). The one that becomes the first lives: the
-- second is chosen anew behind it, among those that ask then, since it may be dead.
function Due.sleepOf(worker, due, spread)
  local floor = Due.floor(spread)
  local one, two = Due.holders()
  if one == '' or now - C.alarm > LIMIT.alarmLateMs then
    local wait = math.max(0, math.min(floor, due - now))
    C.alarms = worker .. ','
    C.alarm = now + wait
    return wait
  end
  if two == '' or two == worker or now - C.alarm > LIMIT.alarmLateMs then
    C.alarms = one .. ',' .. worker
    return math.max(0, math.min(floor, due - now + LIMIT.alarmGapMs))
  end
  return floor
end

-- A worker begins, in place of one that was killed as likely as not: it becomes the first holder, who takes the alarm when
-- it stands in line, and hands it on when it finds work.
function Due.begins(worker)
  local one = Due.holders()
  C.alarms = worker .. ',' .. (one == worker and '' or one)
  C.alarm = now
end

-- Something falls due before the first holder wakes: it is woken, and sets the alarm anew.
function Due.alarmEarlier()
  local one, two = Due.holders()
  if Line.wakeWorker(one) then
    C.alarms = ',' .. two
    C.alarm = INF
  end
end

-- The first holder has work now: another idle worker is woken to take the alarm.
function Due.handAlarm(queue)
  if C.waiting <= 0 or F.nextDue() == INF then return end
  local _, two = Due.holders()
  if two == '' or not Line.wakeWorker(two) then Line.wakeLine(queue, '*', 1) end
end
