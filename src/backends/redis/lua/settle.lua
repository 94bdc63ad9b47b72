-- Applies decisions to leased tasks, and may lease the next ones in the same step.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  worker   who settles
-- ARGV[2]  count    settlements that follow
-- ARGV[3..]  items  id, token, decision and its three arguments; then, when it leases too, the
--                   request as in lib/lease-step.lua
-- Returns  the number of answers, the answers ('ok <state>', 'repeated <state>', 'leaseLost',
--          'notFound', 'refused <why>'), then the lease as in lib/lease-step.lua
-- Cost     O((settlements + leases) × log tasks)
-- @include lib/state.lua
-- @include lib/hot.lua
-- @include lib/choose.lua
-- @include lib/heads.lua
-- @include lib/seen.lua
-- @include lib/terms.lua
-- @include lib/lease.lua
-- @include lib/upstreams.lua
-- @include lib/lease-step.lua
-- @include lib/channel.lua
-- @include lib/writes.lua
-- @include lib/settle-one.lua

local worker = F.readWorker(ARGV[1])
local count = tonumber(ARGV[2])
redis.call('DEL', K.oom())
if worker then F.seen(worker) end
local reply, ids = { count }, {}
for i = 1, count do ids[i] = ARGV[6 * i - 3] end
local leases = count > 0 and F.preload(ARGV[1], ids)
for i = 1, count do
  reply[i + 1] = F.settleOne(6 * i - 3, leases[i])
end
if H.cascade < INF or I.cascade then F.cascade(100) end
local from = 6 * count + 3
local leased
if ARGV[from] and worker then
  leased = F.leaseStep(from, worker)
else
  leased = { 'unregistered' }
  if worker then F.saveLiving(worker) end
  F.writeStep()
  F.closeStep()
end
for i = 1, #leased do reply[count + 1 + i] = leased[i] end
return reply
