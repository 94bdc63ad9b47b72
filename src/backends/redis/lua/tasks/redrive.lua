-- Puts a dead letter back, at the tail of its level and with fresh attempts.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  id      the task
-- ARGV[2]  by      it has to have ended by this moment, or ''
-- ARGV[3]  options what it is put back with, if that is another input: its options and NUL
-- ARGV[4]  input   '' when it is long
-- ARGV[5]  long    a long input
-- Returns  {'ok', state}, {'not-found'}, {'wrong-state', state}, {'busy'}, {'cycle', path as JSON} or
--          {'dependency-limit', limit}
-- Cost     O(log tasks + dependents that wait for it), and what lib/cycle.lua follows when it waits for others
-- @include lib/state.lua
-- @include lib/base.lua
-- @include lib/deps.lua
-- @include lib/idempotency.lua
-- @include lib/cycle.lua

local id = ARGV[1]
local t = F.taskOf(id)
if not t then return F.unchanged({ 'not-found' }) end
local by = tonumber(ARGV[2] or '')
if not May.redriven(t.state) or (by and t.at > by) then return F.unchanged({ 'wrong-state', t.state }) end
if t.inCascade then return F.unchanged({ 'busy' }) end

-- Those that waited for this redrive wait for its end again.
local function awaitEndAgain()
  local awaiting, waiting = K.awaitingRedrive(id), K.waiting(id)
  if redis.call('EXISTS', awaiting) == 0 then return end
  local ids = redis.call('ZRANGE', awaiting, 0, (LIMIT.rewaitedAtOnce - 1))
  -- Hardly anybody waits for the end of one that has ended, and has told it.
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
local function relink()
  local key = K.blocked(id)
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
local function closes()
  local live, ids = {}, redis.call('SMEMBERS', K.blocked(id))
  table.sort(ids, F.before)
  for _, other in ipairs(ids) do
    local upstream = Deps.upstreamOf(t, other)
    if upstream and not F.isEnd(upstream.state) then live[#live + 1] = other end
  end
  return #live > 0 and Link.closes({ id = id, user = F.fixed(t).user, deps = live }) or nil
end

local refusal = t.optional and t.optional.waitsOn and closes()
if refusal then
  return F.unchanged({ refusal.type, refusal.path and cjson.encode(refusal.path) or refusal.limit })
end
redis.call('DEL', K.oom())
if ARGV[3] then
  Key.replaceInput(t, { recordText = ARGV[3], optionsAt = 1, body = #ARGV[3] + 1, payload = ARGV[4], long = ARGV[5] })
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
if t.optional and t.optional.waitsOn then relink() end
awaitEndAgain()
if t.isBlocked then
  F.enterDeferred(t, u)
else
  F.released(t)
  F.goOn(t, u)
end
F.cascade(LIMIT.cascadeStep)
F.writeStep()
F.closeStep()
return { 'ok', t.state }
