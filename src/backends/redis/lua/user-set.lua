-- Changes the settings of a user, in one queue or in all that have none of their own.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  user    the user
-- ARGV[2]  queue   or '' for all
-- ARGV[3]  patch   as JSON
-- Returns  {'ok'}
-- Cost     O(queues × log users)
-- @include lib/state.lua
-- @include lib/base.lua
-- @include lib/patch.lua

local user, queue, patch = ARGV[1], ARGV[2], cjson.decode(ARGV[3])
redis.call('DEL', K.oom())
local key, field = K.userConfig(user), queue == '' and '*' or queue
local settings = F.patched(redis.call('HGET', key, field), patch)
if settings then
  redis.call('HSET', key, field, cmsgpack.pack(settings))
  redis.call('SADD', K.configured(), user)
  if queue == '' then redis.call('ZADD', K.configuredForAll(), 0, user) end
else
  redis.call('HDEL', key, field)
  if queue == '' then redis.call('ZREM', K.configuredForAll(), user) end
  if redis.call('EXISTS', key) == 0 then redis.call('SREM', K.configured(), user) end
end
C.configs = math.max(redis.call('SCARD', K.configured()), 1)

C.settles = true

local function applyIn(name)
  local u = F.userOf(F.laneOf(name), user)
  u.own, u.kept = F.ownSettings(u.lane, user)
  u.changed = true
  u.set = F.settingsOf(u.lane, u.own)
  if not u.isCounted and F.isRecorded(u) then F.startCount(u) end
  F.reindex(u)
end

if queue ~= '' then
  applyIn(queue)
else
  for _, name in ipairs(redis.call('SMEMBERS', K.queues())) do
    local isNamed = redis.call('ZSCORE', K.users(K.lane(name)), user)
    if isNamed or F.runningOf(F.laneOf(name))[user] then applyIn(name) end
  end
end
C.configs = redis.call('SCARD', K.configured())
F.writeStep()
F.closeStep()
return { 'ok' }
