-- Runs one bounded step of maintenance: ended leases, due tasks, deadlines, dependents, retention.
--
-- KEYS[1]  clock      hash
-- ARGV[1]  retention  how long ended tasks are kept
-- Returns  more (1 or 0), the next due moment or -1, now, 1 when some schedule is due, dead letters if any (lib/ends/failures.lua)
-- Cost     O(log tasks), at most 50 to 100 tasks of each kind

F.readAll()
local retention = ARGV[1]
redis.call('DEL', K.oom())
local more = F.tickSteps(retention)
F.writeStep()
local due = F.nextDue()
due = math.min(due, F.ratesOpenAt(LIMIT.ratedLook))
F.closeStep()
return { more and 1 or 0, due < INF and due or -1, now, F.schedulesDue(), C.hasDead and Failures.listed() or nil }
