-- Tells users and queues as JSON. Numbers that are not whole travel as text, since cjson keeps 14
-- digits.

function F.exact(value)
  if type(value) == 'table' then
    local copy = {}
    for key, inner in pairs(value) do copy[key] = F.exact(inner) end
    return copy
  end
  if type(value) == 'number' and value % 1 ~= 0 then return string.format('%.17g', value) end
  return value
end

function F.settingsInForce(queue, own)
  local settings = {}
  for field, value in pairs(queue.perUser) do settings[field] = F.exact(value) end
  for field, value in pairs(own) do settings[field] = F.exact(value) end
  return settings
end

-- Where settings come from: said of the user in the queue, of the user, or by the queue.
function F.originsOf(u)
  local origins = {}
  for field in pairs(u.queue.perUser) do origins[field] = 'queue' end
  if next(u.own) == nil then return origins end
  local got = redis.call('HMGET', K.userConfig(u.name), '*', u.queue.name)
  for field in pairs(got[1] and cmsgpack.unpack(got[1]) or NONE) do origins[field] = 'user' end
  for field in pairs(got[2] and cmsgpack.unpack(got[2]) or NONE) do
    origins[field] = 'user-in-queue'
  end
  return origins
end

-- How many of its tasks are queued by level, in line or parked.
function F.levelsOf(u)
  if u.parked == 0 then return u.cnt end
  local levels = {}
  for level = 1, 6 do levels[level] = u.cnt[level] + Park.count(u, level) end
  return levels
end

function F.userInfo(u)
  local queue = u.queue
  if not u.isCounted then F.lookAt(u) end
  return { user = u.name, queue = queue.name, settings = F.settingsInForce(queue, u.own),
    origins = F.originsOf(u), queued = u.queued + u.parked, levels = F.levelsOf(u),
    parked = u.parked > 0 and u.parked or nil, running = u.running,
    later = u.live - u.queued - u.parked - u.running, ready = u.ready,
    ahead = string.format('%.17g', u.tagEpoch == queue.epoch and F.startOf(u) - queue.virtual or 0) }
end

-- How many more slots would start a task at once, the queue's own pause, cap and rate included.
function F.runnableNow(queue)
  local config = queue.config
  if config.paused then return 0 end
  local rate, runnable = config.rate, queue.runnable
  if rate and Rate.allowedAt(rate, queue.tat) > now then return 0 end
  if not config.maxRunning then return runnable end
  return math.max(0, math.min(runnable, config.maxRunning - queue.counts.started))
end

function F.queueInfo(queue)
  local followers = redis.call('HMGET', K.fair(queue.prefix), FIELD.fair.followers, FIELD.fair.followed)
  return { queue = queue.name, settings = F.exact(queue.config), counts = queue.counts,
    followers = tonumber(followers[1] or 0), followed = tonumber(followers[2] or 0),
    readyUsers = queue.ready, runnable = F.runnableNow(queue),
    totals = { enqueued = queue.enqueued, finished = queue.finished, failed = queue.failed,
      canceled = queue.canceled, retried = queue.retried, lost = queue.lost, stolen = queue.stolen } }
end

function F.addWorkers(reply)
  for _, id in ipairs(redis.call('ZRANGE', K.workers(), 0, -1)) do
    local worker = F.workerOf(id)
    local got = worker and math.abs(now - worker.seen) <= LIMIT.workerSilenceMs
      and redis.call('HMGET', K.worker(id), FIELD.worker.spec, FIELD.worker.began, FIELD.worker.failed, FIELD.worker.lost)
    if got and got[1] then
      local n = #reply
      reply[n + 1], reply[n + 2], reply[n + 3] = got[1], got[2], string.format('%.0f', worker.seen)
      reply[n + 4], reply[n + 5] = redis.call('HLEN', K.hot(id)), string.format('%.0f', worker.succeeded)
      reply[n + 6], reply[n + 7] = got[3] or '0', got[4] or '0'
    end
  end
end
