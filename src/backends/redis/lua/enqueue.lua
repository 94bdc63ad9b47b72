-- Stores tasks: all or none, or each on its own.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  atomic   '1': a refusal of one leaves nothing; '0' and, behind it, the token and the id of
--                   a lease that must be in force, parted by NUL
-- ARGV[2..]  items  id, user, queue, blob; then the payload when it is long (first bit of the
--                   digit behind the blob's level); then other facts as JSON (second bit)
-- Returns  for each item 'c' when it was created, else the reply as JSON
-- Cost     O(items × log tasks)
-- @include lib/state.lua
-- @include lib/text.lua
-- @include lib/base.lua
-- @include lib/deps.lua
-- @include lib/idempotency.lua
-- @include lib/cycle.lua
-- @include lib/link.lua
-- @include lib/store.lua
-- @include lib/store-batch.lua
-- @rare lib/task.lua lib/places.lua lib/shares.lua lib/end.lua lib/bytes.lua lib/running.lua

local atomic, fence = ARGV[1] == '1', string.sub(ARGV[1], 2)
local items = Store.readItems(2)
if fence ~= '' and not Store.isFenced(fence) then return Store.loseLease(items) end
local replies = atomic and Store.storeAll(items) or Store.storeEach(items)
if not Store.wrote then return F.unchanged(replies) end
Step.saveTasks()
if H.cascade < INF or I.cascade then F.cascade(100) end
F.writeStep()
F.closeStep()
return replies
