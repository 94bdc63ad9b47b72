-- Applies decisions to leased tasks, and may lease the next ones in the same step.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  worker   who settles
-- ARGV[2..]  items  as in lib/steps/settle-many.lua; then, when it leases too, the request as in
--                   lib/steps/lease-step.lua
-- Returns  how many values follow for the settlements, two for each that is not 'ok finished': its place and
--          its answer ('ok <state>', 'repeated <state>', 'leaseLost', 'notFound', 'refused <why>');
--          then the lease as in lib/steps/lease-step.lua
-- Cost     O((settlements + leases) × log tasks)

local counts, spec = F.remembered(ARGV[2], F.countsOf), nil
if ARGV[counts.behind] then spec = F.remembered(ARGV[counts.behind + 3], Lease.specOf) end
F.beginUsual(spec and spec.queues[1] or '', ARGV[1])
local usual, hot, ears = nil, nil, nil
if spec and not whole then
  usual, hot, ears = Usual.step(counts, spec)
  if usual then return usual end
end
F.readAll()
local worker, behind, shares = F.readWorker(ARGV[1]), counts.behind, nil
if not hot then hot, ears = Settle.read(counts) end
if worker and spec then shares = Lease.shares(behind, spec, worker) end
redis.call('DEL', K.oom())
if worker then F.seen(worker) end
local reply = { 0 }
Settle.all(worker, reply, counts, hot, ears)
reply[1] = #reply - 1
F.cascade(LIMIT.cascadeStep)
if shares then
  return F.leaseStep(behind, spec, worker, shares, reply)
else
  reply[#reply + 1] = 'unregistered'
  if worker then F.saveLiving(worker) end
  F.writeStep()
  F.closeStep()
  return reply
end
