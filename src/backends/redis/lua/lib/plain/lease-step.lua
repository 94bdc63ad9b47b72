-- One step of a worker on the short path: it settles, leases, or both; see settle.lua and
-- lib/lease-step.lua for what it is asked and what it answers.

-- What is asked for, from ARGV `from` on; nil when it is a resent one, or asks for several queues.
local function plainRequest(clock, worker, from)
  local id, keep = ARGV[from], ARGV[from + 5]
  if tonumber(ARGV[from + 6]) ~= 1 or not plainQuiet(clock, keep) then return end
  if worker.last and string.find(worker.last, id, 1, true) then return end
  plainAwake(clock, worker.id)
  local till = now + ARGV[from + 2]
  return { id = id, names = worker.names, limit = tonumber(ARGV[from + 1]), count = 0,
    wait = ARGV[from + 3] == '1', till = till, tillText = string.format('%.0f', till),
    starts = {}, owners = {}, reply = { 'leased', 0, -1, 0, now, till, 0 } }
end

-- Deals out the turns of a request; false when a step of the long path is needed.
local function plainTurns(lane, worker, request)
  local token = string.format('%.0f-', micros) .. request.id
  lane.terms = lane.config and queueTerms(lane.config)
  if lane.terms and lane.terms.leaseMs then
    request.till = now + lane.terms.leaseMs
    request.tillText = string.format('%.0f', request.till)
  end
  request.owner = token .. '\0' .. worker.id .. '\0' .. lane.queue .. '\0'
  request.numbers = string.rep('\0', 17)
  request.tail = struct.pack('<ddII', now, micros, lane[LANE_EPOCH], 0)
  if not plainDeal(lane, request) then return false end
  if request.count == 0 then return not request.wait end
  lane[LANE_QUEUED] = lane[LANE_QUEUED] - request.count
  lane[LANE_STARTED] = lane[LANE_STARTED] + request.count
  worker.gained = worker.gained + request.count
  return true
end

-- Whether nothing is to be done for the queue and its users but to save them.
local function plainAfter(lane)
  for i = 1, #lane.order do
    if lane.order[i].live == 0 then return false end
  end
  return plainRest(lane)
end

-- Completes the reply: when the next thing falls due, how long the worker may sleep, and what the
-- queue says of its tasks.
local function plainDue(clock, lane, request)
  local started = clock[CLOCK_STARTED]
  local due = math.ceil(math.min(started == INF and INF or math.max(started, clock[CLOCK_PAUSE]),
    clock[CLOCK_SCHEDULED], clock[CLOCK_THROTTLED], clock[CLOCK_DEADLINES],
    clock[CLOCK_SCHEDULES]))
  if due < INF then request.reply[3] = due end
  request.reply[4] = math.max(0, math.min(LIMIT.floorMs, due - now))
  if lane.terms and request.count > 0 then
    request.reply[#request.reply + 1] = cjson.encode({ [lane.queue] = lane.terms })
  end
end

local function lastOf(request)
  local last = { request.id }
  for i = 1, request.count do
    last[2 * i], last[2 * i + 1] = request.reply[9 * i - 1], micros
  end
  return last
end

-- Writes the step. New places come before old ones.
local function savePlainStep(clock, lane, worker, ends, request)
  if request and request.count > 0 then savePlainLeases(lane, request) end
  if ends then savePlainEnds(clock, ends) end
  savePlainUsers(lane)
  savePlainLane(lane)
  savePlainWorker(worker, request and lastOf(request))
  if ends then
    local head = redis.call('ZRANGE', K.state('started'), 0, 0, 'WITHSCORES')
    clock[CLOCK_STARTED] = head[2] and tonumber(head[2]) or INF
  elseif request and request.count > 0 and request.till < clock[CLOCK_STARTED] then
    clock[CLOCK_STARTED] = request.till
  end
  if request then plainDue(clock, lane, request) end
  savePlainClock(clock)
  if ends then tellPlainEnds(ends) end
end

-- `count` settlements from ARGV[3], then a request from ARGV `from`, if any; nil when the step is
-- not plain.
local function plainStep(count, from)
  local clock, worker = plainClock(), plainWorker(ARGV[1])
  if not clock or not worker then return end
  local request, ends
  if ARGV[from] then
    request = plainRequest(clock, worker, from)
    if not request then return end
  end
  local lane = plainLane(request and ARGV[from + 7] or 'default')
  if not lane then return end
  if count > 0 then
    ends = plainEnds(lane, worker, count, 3)
    if not ends then return end
    if request then request.ends = ends end
  end
  if request and not plainTurns(lane, worker, request) then return end
  if not plainAfter(lane) then return end
  redis.call('DEL', K.oom())
  savePlainStep(clock, lane, worker, ends, request)
  return request and request.reply or { 'unregistered' }
end
