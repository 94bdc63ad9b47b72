-- Leases up to so many tasks in fair order; maintenance that is due comes first.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  worker   who asks
-- ARGV[2..]  lease  as in lib/lease-step.lua
-- Returns  as in lib/lease-step.lua; or {'rich'} when the short script has done nothing
-- Cost     O(leases × log users)
-- @hot lib/dispatch.lua lib/queue.lua lib/clock.lua lib/seen.lua lib/due-parts.lua
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
-- @often lib/line.lua lib/alarm.lua F.Lease_passOn F.Lease_wakeForFreed
-- @rich F.Fluid_file F.saveRate F.Dispatch_one F.Dispatch_headroomOf F.Dispatch_someRich F.Dispatch_saveListClocks F.Lease_again F.latestLeases F.Step_publishEnds F.Step_writeAll
-- @often F.Park_namesOf F.Park_wakeIn F.Park_wake F.Park_wakeAll
-- @rich F.Hand_takeBack F.Park_bringAll F.Park_finishAll F.ownerOf
-- @rich F.Failures_addTo F.cascade F.flushKey F.move F.rateOpensAt F.Lease_begin F.tokenNumber F.touch F.upstreamsOf
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

local worker = F.readWorker(ARGV[1])
if not worker then return { 'unregistered' } end
local shares = Lease.shares(2, worker)
if not rich then
  if not Lease.isShort(2, worker, shares) then return { 'rich' } end
end
redis.call('DEL', K.oom())
F.seen(worker)
return F.leaseStep(2, worker, shares, {})
