-- Applies decisions to leased tasks, and may lease the next ones in the same step.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  worker   who settles
-- ARGV[2..]  items  as in lib/settle-many.lua; then, when it leases too, the request as in
--                   lib/lease-step.lua
-- Returns  how many values follow for the settlements, two for each that is not 'ok finished': its place and
--          its answer ('ok <state>', 'repeated <state>', 'leaseLost', 'notFound', 'refused <why>');
--          then the lease as in lib/lease-step.lua
-- Cost     O((settlements + leases) × log tasks)
-- @hot lib/deal.lua lib/settle-many.lua lib/lane.lua lib/clock.lua lib/seen.lua lib/due-parts.lua
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
-- @include lib/channel.lua
-- @include lib/writes.lua
-- @include lib/settle-one.lua
-- @include lib/settle-many.lua

local worker = F.readWorker(ARGV[1])
redis.call('DEL', K.oom())
if worker then F.seen(worker) end
local reply = { 0 }
local from = Settle.all(worker, reply)
reply[1] = #reply - 1
if H.cascade < INF or rich then F.cascade(100) end
if ARGV[from] and worker then
  F.leaseStep(from, worker, reply)
else
  reply[#reply + 1] = 'unregistered'
  if worker then F.saveLiving(worker) end
  F.writeStep()
  F.closeStep()
end
return reply
