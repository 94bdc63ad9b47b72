-- Moves lease ends on, runs maintenance that is due, and says what the worker holds unknowingly.
--
-- KEYS[1]  clock      hash
-- ARGV[1]  worker     who holds the leases
-- ARGV[2]  lease_ms   from now
-- ARGV[3]  retention  how long ended tasks are kept
-- ARGV[4..]  leases   id, token
-- Returns  now, 1 when some schedule is due, how many answers, the answers ('ok', 'canceling', 'lost'), then id and token of
--          each lease of the latest request that was not asked for; with 2 more at the second place dead letters
--          at the end (lib/ends/failures.lua)
-- Cost     O(leases × log started)

F.readAll()
local worker, leaseMs, retention = F.readWorker(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
redis.call('DEL', K.oom())
local reply, asked, n = { now, 0, 0 }, {}, 3
for i = 4, #ARGV, 2 do
  local t = F.taskOf(ARGV[i], ARGV[1])
  n = n + 1
  asked[ARGV[i]] = ARGV[i + 1]
  if not t or t.state ~= 'started' or t.token ~= ARGV[i + 1] then
    reply[n] = 'lost'
  else
    t.leaseUntil, t.isHanded = now + leaseMs, false
    F.leasedUntil(t.worker, t.leaseUntil)
    F.change(t)
    reply[n] = t.canceling and 'canceling' or 'ok'
  end
end
reply[3] = n - 3
local packed
if worker then
  F.seen(worker)
  F.saveLiving(worker)
  packed = worker.last
else
  -- It may have been silent for long, and hold all the same what it does not know of.
  local silent = F.workerOf(ARGV[1])
  packed = silent and silent.last
end
for _, t in ipairs(packed and F.latestLeases(ARGV[1], packed) or {}) do
  -- What it was handed may be on its way.
  if asked[t.id] ~= t.token and not t.isHanded then
    reply[n + 1], reply[n + 2] = t.id, t.token
    n = n + 2
  end
end
F.tickSteps(retention)
F.writeStep()
reply[2] = F.schedulesDue()
if C.hasDead then reply[2], reply[n + 1] = reply[2] + 2, Failures.listed() end
F.closeStep()
return reply
