-- Leases up to so many tasks in fair order; maintenance that is due comes first.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  worker   who asks
-- ARGV[2..]  lease  as in lib/lease-step.lua
-- Returns  as in lib/lease-step.lua
-- Cost     O(leases × log users)
-- @hot lib/deal.lua lib/lane.lua lib/clock.lua lib/seen.lua lib/due-parts.lua
-- @hot Lease.terms Lease.shares Lease.append Lease.dueOfShares F.leaseStep F.saveLiving F.begun F.mayRest
-- @hot Choose.best Choose.laneOpen Choose.stepOf Tag.scale Tag.start F.isKindUsed
-- @hot Step.restIfIdle Step.finishLane F.writeStep F.closeStep F.nextDue F.scheduleLookAt F.schedulesDue
-- @often lib/line.lua lib/alarm.lua Lease.standInLine Lease.linesOf Lease.passOn F.rateOpensAt Step.newEpoch Step.dropAllTags Step.dropNames
-- @include lib/state.lua
-- @include lib/hot.lua
-- @include lib/choose.lua
-- @include lib/heads.lua
-- @include lib/seen.lua
-- @include lib/lease.lua
-- @include lib/upstreams.lua
-- @include lib/lease-step.lua
-- @include lib/deal.lua

local worker = F.readWorker(ARGV[1])
if not worker then return { 'unregistered' } end
redis.call('DEL', K.oom())
F.seen(worker)
return F.leaseStep(2, worker, {})
