-- What queues say of the tasks that are leased from them, as the worker hears it.

-- nil when it says nothing.
local function queueTerms(config)
  if not (config.leaseMs or config.retries or config.timeoutMs) then return end
  return { leaseMs = config.leaseMs, retries = config.retries, timeoutMs = config.timeoutMs }
end
