-- Loads and saves records: a hash of few fields, each of at most 64 bytes where it can be, since
-- such a hash is one small block of memory.
--
-- f, g, h  text that never changes: creation (13 digits), level, kind, bytes of the user (3 digits),
--          user, queue, then parted by NUL name, cost, options, payload; in f alone when it is long
-- s        numbers that change, packed; absent while it is queued for the first time
-- o        latest token and worker, with queue and user, parted by NUL; absent before a lease
-- x        rare facts, packed: dependencies, deadlines, idempotency key
-- y        rare facts that change, packed: st older token that settled it, sn and ss how often and
--          since when it was strange, ft and rs why it ended, cn why it is to be canceled, cw token
--          and name of the newest checkpoint that wrote to channels
-- p, r, e  long payload, result, error; w who waits for its end; d somebody depends on it

local TASK = '<BBdIBIdddII'
local CASCADE, LEFT, ATTEMPTS, CANCEL, SETTLED = 1, 2, 4, 8, 16
local PIECE = 64

function F.isEnd(state)
  return state == 'finished' or state == 'failed' or state == 'canceled'
end

-- A task that is queued and never was anything else.
function F.newTask(id, f, key)
  return { id = id, f = f, key = key or K.task(id), state = 'queued', seq = 0, failures = 0,
    losses = 0, releases = 0, at = 0, leasedAt = 0, n = 0, chargedEpoch = 0, readers = 0,
    token = '', worker = '', user = false, queue = false, dirty = false, extra = false }
end

function F.readState(t, packed, lease)
  local code, flags
  code, flags, t.seq, t.failures, t.losses, t.releases, t.at, t.leasedAt, t.n, t.chargedEpoch,
    t.readers = struct.unpack(TASK, packed)
  t.state = STATES[code]
  if flags > 0 then
    t.inCascade, t.left = flags % 2 == 1, flags % 4 >= 2
    t.hasAttempts, t.canceling, t.isSettled = flags % 8 >= 4, flags % 16 >= 8, flags % 32 >= 16
  end
  if lease then
    local a = string.find(lease, '\0', 1, true)
    local b = string.find(lease, '\0', a + 1, true)
    local c = string.find(lease, '\0', b + 1, true)
    t.token, t.worker = string.sub(lease, 1, a - 1), string.sub(lease, a + 1, b - 1)
    t.queue, t.user = string.sub(lease, b + 1, c - 1), string.sub(lease, c + 1)
  end
end

function F.joined(f, g, h)
  if h then return f .. g .. h end
  return g and f .. g or f
end

-- The record of an id, or false.
function F.taskOf(id)
  local t = tasks[id]
  if t ~= nil then return t end
  local key = K.task(id)
  local got = redis.call('HMGET', key, 'f', 'g', 'h', 's', 'o', 'x', 'y', 'w', 'd')
  t = false
  if got[1] then
    t = F.newTask(id, F.joined(got[1], got[2], got[3]), key)
    if got[4] then F.readState(t, got[4], got[5]) end
    if got[6] then t.x = cmsgpack.unpack(got[6]) end
    if got[7] then t.y = cmsgpack.unpack(got[7]) end
    t.w, t.dependents = got[8], got[9]
  end
  tasks[id] = t
  return t
end

-- The record of an id that was leased, without the text that never changes; else as `taskOf`.
function F.leasedOf(id)
  if tasks[id] ~= nil then return tasks[id] end
  local key = K.task(id)
  local got = atHand[key] or redis.call('HMGET', key, 's', 'o', 'x', 'y', 'w', 'd')
  if not got[2] then return F.taskOf(id) end
  local t = F.newTask(id, false, key)
  F.readState(t, got[1], got[2])
  if got[3] then t.x = cmsgpack.unpack(got[3]) end
  if got[4] then t.y = cmsgpack.unpack(got[4]) end
  t.w, t.dependents = got[5], got[6]
  tasks[id] = t
  return t
end

-- @rare
function F.readText(t)
  local got = redis.call('HMGET', t.key, 'f', 'g', 'h')
  t.f = F.joined(got[1] or '', got[2], got[3])
end

-- Fills in whose task it is.
function F.owned(t)
  if not t.f then F.readText(t) end
  local f = t.f
  local last = 18 + string.sub(f, 16, 18)
  local stop = string.find(f, '\0', last + 1, true)
  t.user, t.queue = string.sub(f, 19, last), string.sub(f, last + 1, stop - 1)
  t.level, t.rest = string.byte(f, 14) - 48, stop + 1
end

-- Fills in all facts that never change.
function F.fixed(t)
  if t.created then return t end
  F.owned(t)
  local f, a = t.f, t.rest
  local b = string.find(f, '\0', a, true)
  local c = string.find(f, '\0', b + 1, true)
  local d = string.find(f, '\0', c + 1, true)
  t.created = tonumber(string.sub(f, 1, 13))
  t.name, t.cost = string.sub(f, a, b - 1), tonumber(string.sub(f, b + 1, c - 1))
  t.optionsAt, t.body = c + 1, d + 1
  return t
end

-- @rare
function F.payloadOf(t)
  F.fixed(t)
  if t.body > #t.f then return t.long or redis.call('HGET', K.task(t.id), 'p') or '' end
  return string.sub(t.f, t.body)
end

function F.ownerOf(t)
  if not t.user then F.owned(t) end
  return F.userOf(F.laneOf(t.queue), t.user)
end

function F.change(t)
  if t.dirty then return end
  t.dirty = true
  if not t.extra then changed[#changed + 1] = t end
end

-- Sets a field of the hash beside the packed ones, at the end of the step.
function F.setField(t, field, value)
  if not t.extra then
    t.extra = {}
    if not t.dirty then changed[#changed + 1] = t end
  end
  t.extra[#t.extra + 1] = field
  t.extra[#t.extra + 1] = value
end

-- Writes the text that never changes, in pieces. `again`: there may be longer ones of before.
-- @rare
function F.setText(t, again)
  local f = t.f
  local pieces = #f <= 3 * PIECE and PIECE or #f
  F.setField(t, 'f', string.sub(f, 1, pieces))
  if #f > pieces or again then F.setField(t, 'g', string.sub(f, pieces + 1, 2 * pieces)) end
  if #f > 2 * pieces or again then F.setField(t, 'h', string.sub(f, 2 * pieces + 1)) end
end

-- The rare facts that change, to be changed.
-- @rare
function F.rareOf(t)
  t.y, t.yDirty = t.y or {}, true
  F.change(t)
  return t.y
end

function F.packState(t)
  local flags = (t.inCascade and CASCADE or 0) + (t.left and LEFT or 0)
    + (t.hasAttempts and ATTEMPTS or 0) + (t.canceling and CANCEL or 0)
    + (t.isSettled and SETTLED or 0)
  return struct.pack(TASK, CODES[t.state], flags, t.seq, t.failures, t.losses, t.releases, t.at,
    t.leasedAt, t.n, t.chargedEpoch, t.readers)
end

function F.saveTask(t)
  if t.xDirty then F.setField(t, 'x', cmsgpack.pack(t.x)) end
  if t.yDirty then F.setField(t, 'y', cmsgpack.pack(t.y)) end
  if t.oDirty then
    F.setField(t, 'o', t.token .. '\0' .. t.worker .. '\0' .. t.queue .. '\0' .. t.user)
  end
  local key, extra = t.key, t.extra
  if not extra then
    redis.call('HSET', key, 's', F.packState(t))
  elseif not t.dirty then
    redis.call('HSET', key, unpack(extra))
  elseif #extra == 2 then
    redis.call('HSET', key, 's', F.packState(t), extra[1], extra[2])
  else
    redis.call('HSET', key, 's', F.packState(t), unpack(extra))
  end
end
