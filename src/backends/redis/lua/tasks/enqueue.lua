-- Stores tasks: all or none, or each on its own.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  atomic   '1': a refusal of one leaves nothing; '0' and, behind it, the token and the id of
--                   a lease that must be in force, parted by NUL
-- ARGV[2..]  items  as in lib/store-many.lua
-- Returns  'created' and how many, when all were; else for each item 'c' when it was, else the reply as JSON;
--          or {'rich'} when the short script has done nothing
-- Cost     O(items × log tasks)
-- @hot lib/store-many.lua lib/queue.lua lib/clock.lua F.Tag_enterTag F.Tag_scaleOf F.Tag_startOf F.Tag_seated F.Tag_keptTag
-- @hot F.Step_restIfIdle F.Step_finishQueue F.writeStep F.closeStep
-- @often F.Fluid_new F.Fluid_source F.Fluid_startOf F.Fluid_look F.Fluid_open F.Fluid_weightOf F.Fluid_pass F.Fluid_after F.Fluid_save F.Fluid_advance
-- @often lib/hand.lua F.Store_isHanded F.Dispatch_firstOdd F.Line_leave F.Line_stands F.Due_dropAlarm F.Due_holders
-- @often lib/line.lua
-- @often lib/alarm.lua F.nextDue F.scheduleLookAt
-- @often F.spread F.Step_newEpoch F.Step_dropAllTags F.Fluid_forget F.Step_dropNames F.Park_countOf
-- @rich F.saveRate F.Step_publishEnds F.Step_writeAll F.Store_run F.flushKey F.mayRest F.touch
-- @rich F.comeBack F.ownerOf F.taskOf
-- @include lib/state.lua
-- @include lib/text.lua
-- @include lib/base.lua
-- @include lib/deps.lua
-- @include lib/idempotency.lua
-- @include lib/cycle.lua
-- @include lib/link.lua
-- @include lib/store.lua
-- @include lib/store-batch.lua
-- @include lib/hot-leases.lua
-- @include lib/dispatch.lua
-- @include lib/hand.lua
-- @include lib/store-many.lua

if rich then return Store.run() end
local stored = Store.many()
if not stored then return { 'rich' } end
F.writeStep()
F.closeStep()
return { 'created', stored }
