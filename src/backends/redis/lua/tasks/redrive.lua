-- Puts dead letters back, each at the tail of its level and with fresh attempts: the first of them, as many as one
-- script may.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  by      they have to have ended by this moment, or ''
-- ARGV[2]  options what it is put back with, if that is another input, of one alone: its options and NUL; or ''
-- ARGV[3]  input   '' when it is long, or the same
-- ARGV[4]  long    a long input, or ''
-- ARGV[5..]  ids   the tasks
-- Returns  two texts for each: 'ok' and its state; 'not-found' and ''; 'wrong-state' and that; 'busy' and '';
--          'cycle' and the path as JSON; 'dependency-limit' and the limit
-- Cost     O(log tasks + dependents that wait for it) each, within LIMIT.scriptUnits, and what lib/ends/cycle.lua follows
--          when it waits for others

F.readAll()
-- Those that waited for this redrive wait for its end again.
local function awaitEndAgain(id)
  local awaiting, waiting = K.awaitingRedrive(id), K.waiting(id)
  if redis.call('EXISTS', awaiting) == 0 then return end
  local ids = redis.call('ZRANGE', awaiting, 0, (LIMIT.rewaitedAtOnce - 1))
  -- Hardly any client waits for the end of a task that has ended, and has told it.
  if redis.call('EXISTS', waiting) == 1 then
    redis.call('ZUNIONSTORE', awaiting, 2, waiting, awaiting, 'AGGREGATE', 'MAX')
  end
  redis.call('RENAME', awaiting, waiting)
  for _, other in ipairs(ids) do
    local dependent = F.taskOf(other)
    if dependent then Deps.rewait(dependent) end
  end
end

-- Looks at the unsatisfied dependencies once more.
local function relink(t)
  local key = K.blocked(t.id)
  local ids = redis.call('SMEMBERS', key)
  table.sort(ids, F.before)
  for _, other in ipairs(ids) do
    local upstream = Deps.upstreamOf(t, other)
    if not upstream then
      Deps.blockByMissing(t, other)
    elseif not F.isEnd(upstream.state) then
      Deps.blockBy(t, upstream)
    elseif upstream.state == 'finished' then
      redis.call('SREM', key, other)
      F.addReader(upstream, 1)
    else
      t.isBlocked = true
      Cascade.hold(upstream, t)
    end
  end
end

-- Why it may not come back to wait for those that it has not done with, if it may not.
local function closes(t)
  local live, ids = {}, redis.call('SMEMBERS', K.blocked(t.id))
  table.sort(ids, F.before)
  for _, other in ipairs(ids) do
    local upstream = Deps.upstreamOf(t, other)
    if upstream and not F.isEnd(upstream.state) then live[#live + 1] = other end
  end
  return #live > 0 and Link.closes({ id = t.id, user = F.fixed(t).user, deps = live }) or nil
end

-- Of about 10 µs: what a redrive takes, as far as no task waits for it.
local EACH = 12
local by, changed, reply = tonumber(ARGV[1]), false, {}

-- What it came to, and its detail.
local function redrive(id)
  local t = F.taskOf(id)
  if not t then return 'not-found', '' end
  if not May.redriven(t.state) or (by and t.at > by) then return 'wrong-state', t.state end
  if t.inCascade then return 'busy', '' end
  local refusal = t.optional and t.optional.waitsOn and closes(t)
  if refusal then
    return refusal.type, refusal.path and cjson.encode(refusal.path) or tostring(refusal.limit)
  end
  if not changed then redis.call('DEL', K.oom()) end
  changed = true
  local options, input, long = ARGV[2], ARGV[3], ARGV[4]
  if options ~= '' then
    Key.replaceInput(t, {
      recordText = options, optionsAt = 1, body = #options + 1, payload = input, long = long ~= '' and long or nil,
    })
  end
  local u = F.ownerOf(t)
  F.leave(t, u)
  u.live = u.live + 1
  t.seq, t.failures, t.losses, t.releases, t.canceling = 0, 0, 0, 0, false
  if t.changing then t.changing = { settledToken = t.changing.settledToken, streamed = t.changing.streamed } end
  redis.call('HDEL', K.errors(), id)
  redis.call('HDEL', K.ends(), id)
  t.result, t.error = nil, nil
  if redis.call('EXISTS', K.run(id)) == 1 then redis.call('HINCRBY', K.run(id), FIELD.run.redrives, 1) end
  t.state = 'deferred'
  if t.optional and t.optional.keyName then t.optional.keyPassed = true end
  F.change(t)
  if t.optional and t.optional.waitsOn then relink(t) end
  awaitEndAgain(id)
  if t.isBlocked then
    F.enterDeferred(t, u)
  else
    F.released(t)
    F.enterLine(t, u)
  end
  F.cascade(LIMIT.cascadeStep)
  return 'ok', t.state
end

for i = 5, #ARGV do
  if i > 5 and F.isSpent() then break end
  F.spend(EACH, 0)
  reply[#reply + 1], reply[#reply + 2] = redrive(ARGV[i])
end
if not changed then return F.unchanged(reply) end
F.writeStep()
F.closeStep()
return reply
