-- Applies decisions to leased tasks, and may lease the next ones in the same step.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  worker   who settles
-- ARGV[2..]  items  as in lib/settle-many.lua; then, when it leases too, the request as in
--                   lib/lease-step.lua
-- Returns  how many values follow for the settlements, two for each that is not 'ok finished': its place and
--          its answer ('ok <state>', 'repeated <state>', 'leaseLost', 'notFound', 'refused <why>');
--          then the lease as in lib/lease-step.lua; or {'rich'} when the short script has done nothing
-- Cost     O((settlements + leases) × log tasks)
-- @hot lib/dispatch.lua lib/settle-many.lua lib/queue.lua lib/clock.lua lib/seen.lua lib/due-parts.lua
-- @hot F.Lease_settings F.Lease_shares F.Lease_append F.Lease_dueOfShares F.Lease_isShort F.leaseStep
-- @hot F.saveLiving F.begun F.mayRest F.Choose_best F.Choose_queueOpen F.Choose_stepOf F.Tag_scaleOf F.Tag_startOf
-- @hot F.Tag_exactStep F.Tag_sharedStep
-- @hot F.isKindUsed F.Step_restIfIdle F.Step_finishQueue F.writeStep F.closeStep F.nextDue F.scheduleLookAt
-- @hot F.schedulesDue
-- @often F.Due_dropAlarm F.Due_holders
-- @often F.Fluid_new F.Fluid_source F.Fluid_startOf F.Fluid_look F.Fluid_open F.Fluid_weightOf F.Fluid_pass F.Fluid_after F.Fluid_add F.Fluid_save
-- @often F.Lease_standInLine F.Lease_linesOf F.Due_sleepOf F.Due_floor
-- @often F.Step_newEpoch F.Step_dropAllTags F.Fluid_forget F.Step_dropNames F.Park_countOf F.restWorker F.readLeases
-- @often F.Dispatch_unpop F.Dispatch_addLong F.Dispatch_firstHeavy F.Dispatch_fits F.Lease_addRow F.Choose_classBefore
-- @often lib/notice.lua F.Settle_notify
-- @often lib/line.lua lib/alarm.lua F.Lease_passOn F.Lease_wakeForFreed
-- @rich F.Fluid_file F.saveRate F.Dispatch_one F.Dispatch_headroomOf F.Dispatch_someRich F.Dispatch_saveListClocks F.Lease_again F.latestLeases F.Step_publishEnds F.Step_writeAll
-- @often F.Park_namesOf F.Park_wakeIn F.Park_wake F.Park_wakeAll
-- @rich F.Hand_takeBack F.Park_bringAll F.Park_finishAll F.ownerOf
-- @rich F.Failures_addTo F.cascade F.flushKey F.move F.rateOpensAt F.Lease_begin F.tokenNumber F.touch F.upstreamsOf F.Settle_one F.Settle_isAmongMany F.Settle_isOdd F.Settle_finishAlso F.Settle_some F.countAttempt F.flushEnded
-- @include lib/state.lua
-- @include lib/hot.lua
-- @include lib/hand.lua
-- @include lib/choose.lua
-- @include lib/heads.lua
-- @include lib/seen.lua
-- @include lib/lease.lua
-- @include lib/upstreams.lua
-- @include lib/lease-step.lua
-- @include lib/dispatch.lua
-- @include lib/dispatch-rich.lua
-- @include lib/skip.lua
-- @include lib/bring-back.lua
-- @include lib/channel.lua
-- @include lib/writes.lua
-- @include lib/settle-one.lua
-- @include lib/settle-rich.lua
-- @include lib/settle-many.lua

local worker = F.readWorker(ARGV[1])
local hot, ears, behind = Settle.read()
local shares
if worker and ARGV[behind] then shares = Lease.shares(behind, worker) end
if not rich then
  local isShort = shares and not worker.scope
  if isShort then isShort = Settle.isShort(hot, ears) end
  if isShort then isShort = Lease.isShort(behind, worker, shares) end
  if not isShort then return { 'rich' } end
end
redis.call('DEL', K.oom())
if worker then F.seen(worker) end
local reply = { 0 }
Settle.all(worker, reply, hot, ears)
reply[1] = #reply - 1
if rich then F.cascade(LIMIT.cascadeStep) end
if not rich or shares then
  return F.leaseStep(behind, worker, shares, reply)
else
  reply[#reply + 1] = 'unregistered'
  if worker then F.saveLiving(worker) end
  F.writeStep()
  F.closeStep()
  return reply
end
