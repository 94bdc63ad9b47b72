-- Loads and saves records. A task is one text that never changes; what else is known of it stands where
-- it is for, and nowhere while it is not:
--
-- tasks     its text, `recordText`
-- hot       its lease, of the worker that has it while it is started
-- ends      its end;  results: a long result
-- facts     its place, flags and counts, packed; then what few tasks have: `rare`, and of that `changing` what changes
-- errors    the newest error;  ears: 'd' when another task depends on it, then channels to tell of its end
--
-- What these hold is in src/backends/redis/layout/.

local PLACES = TABLE.places

function F.isEnd(state)
  return state == 'finished' or state == 'failed' or state == 'canceled'
end

-- A task that is queued and never was anything else.
function F.newTask(id, f)
  return { id = id, recordText = f, state = 'queued', seq = 0, failures = 0, losses = 0, releases = 0, at = 0,
    leasedAt = 0, readers = 0, chargedEpoch = 0, token = '', worker = '', step = 0, user = false, queueName = false, dirty = false,
    extra = false, kind = f and string.byte(f, AT.text.kind) - BYTE.zero or 0 }
end

function F.readFacts(t, packed)
  local place, flags, from
  place, flags, t.seq, t.failures, t.losses, t.releases, t.at, t.readers, from =
    struct.unpack(FORMAT.facts, packed)
  if place > PLACE.line then t.state = place == PLACE.scheduled and 'scheduled' or 'deferred' end
  if flags > 0 then
    t.left, t.hasAttempts = flags % (2 * FLAG.facts.left) >= FLAG.facts.left,
      flags % (2 * FLAG.facts.attempts) >= FLAG.facts.attempts
    t.canceling, t.isSettled = flags % (2 * FLAG.facts.canceling) >= FLAG.facts.canceling,
      flags % (2 * FLAG.facts.settled) >= FLAG.facts.settled
    t.inCascade, t.hasLong = flags % (2 * FLAG.facts.cascade) >= FLAG.facts.cascade, flags >= FLAG.facts.long
  end
  if #packed >= from then
    local more = cmsgpack.unpack(string.sub(packed, from))
    t.optional, t.changing = more.optional, more.changing
    if more.latestLease then
      local stop = string.find(more.latestLease, '\0', 1, true)
      t.token, t.worker = string.sub(more.latestLease, 1, stop - 1), string.sub(more.latestLease, stop + 1)
    end
  end
  t.hasFacts = true
end

-- Its facts are of a time before its latest lease, which has a token of its own.
function F.outlive(t)
  if t.isSettled then
    t.changing = t.changing or {}
    t.changing.settledToken = t.token
  end
end

function F.readEnd(t, packed)
  local facts = string.byte(packed) % FLAG.ending.bare >= FLAG.ending.awaited and not t.hasFacts and redis.call('HGET', K.facts(), t.id)
  if facts then F.readFacts(t, facts) end
  F.outlive(t)
  local code, at_, leasedAt, from
  code, at_, leasedAt, t.endStamp, from = struct.unpack(FORMAT.ending, packed)
  local a = string.find(packed, '\0', from, true)
  local b = string.find(packed, '\0', a + 1, true)
  t.state, t.at, t.leasedAt = STATES[code % FLAG.ending.settled], at_, leasedAt
  t.token, t.worker = string.sub(packed, from, a - 1), string.sub(packed, a + 1, b - 1)
  t.result = b < #packed and string.sub(packed, b + 1) or nil
  t.isSettled, t.isApart, t.isBare = code % (2 * FLAG.ending.settled) >= FLAG.ending.settled,
    code % (2 * FLAG.ending.apart) >= FLAG.ending.apart, code >= FLAG.ending.bare
end

-- A long result is read only when it is asked for.
function F.resultOf(t)
  return t.result or t.isApart and redis.call('HGET', K.results(), t.id) or nil
end

function F.resultBytes(t)
  if t.result then return #t.result end
  return t.isApart and redis.call('HSTRLEN', K.results(), t.id) or 0
end

function F.readLease(t, worker, packed)
  F.outlive(t)
  local flags, from
  t.leasedAt, t.leaseUntil, t.chargedEpoch, flags, t.step, from = struct.unpack(FORMAT.lease, packed)
  local stop = string.find(packed, '\0', from, true)
  t.token, t.worker, t.state = string.sub(packed, stop + 1), worker, 'started'
  t.isCounted, t.isHanded, t.isBare, t.isSettled = flags % (2 * FLAG.lease.counted) >= FLAG.lease.counted,
    flags % (2 * FLAG.lease.handed) >= FLAG.lease.handed, flags >= FLAG.lease.bare, false
end

-- Workers that have leases, or had some lately.
function F.leasing()
  if not C.leasing then C.leasing = redis.call('ZRANGE', K.leases(), 0, -1) end
  return C.leasing
end

-- Looks whether some worker has it; `likely` is asked first.
function F.findLease(t, likely)
  F.dropLeases()
  local packed = likely and redis.call('HGET', K.hot(likely), t.id)
  if packed then return F.readLease(t, likely, packed) end
  for _, worker in ipairs(F.leasing()) do
    packed = redis.call('HGET', K.hot(worker), t.id)
    if packed then return F.readLease(t, worker, packed) end
  end
end

function F.readEar(t)
  local ear = redis.call('HGET', K.ears(), t.id)
  if not ear then return end
  t.dependents = string.byte(ear) == 100
  t.listeners = string.find(ear, ' ', 1, true) and string.sub(ear, t.dependents and 2 or 1) or nil
  t.hasEar = true
end

-- The record of an id, or false. `lease`: as its worker holds it, if that is known; 'none' for one that
-- stands in line.
function F.taskOf(id, worker, lease)
  local t = tasks[id]
  if t ~= nil then return t end
  local f = redis.call('HGET', K.tasks(), id)
  t = false
  if f then
    t = F.newTask(id, f)
    if t.kind >= FLAG.kind.facts then F.readFacts(t, redis.call('HGET', K.facts(), id)) end
    if lease then
      if lease ~= 'none' then F.readLease(t, worker, lease) end
    else
      -- Who stands elsewhere than in line has neither ended nor started.
      local ended = t.state == 'queued' and redis.call('HGET', K.ends(), id)
      if ended then
        F.readEnd(t, ended)
      elseif t.state == 'queued' then
        F.findLease(t, worker)
      end
    end
    if C.ears > 0 then F.readEar(t) end
  end
  tasks[id] = t
  return t
end

-- How a task has ended, false when it has not, nil when it is not stored.
function F.endStateOf(id)
  local t = tasks[id]
  if t ~= nil then return t and (F.isEnd(t.state) and t.state or false) or nil end
  local text = redis.call('HGET', K.tasks(), id)
  if not text then return nil end
  local kind = string.byte(text, AT.text.kind)
  -- Who stands elsewhere than in line has not ended.
  if kind >= BYTE.facts and kind < BYTE.place then
    local packed = redis.call('HGET', K.facts(), id)
    if packed and string.byte(packed) > PLACE.line then return false end
  end
  local ended = redis.call('HGET', K.ends(), id)
  return ended and STATES[string.byte(ended) % FLAG.ending.settled] or false
end

-- Whose task it is, by its text.
function F.userIn(text)
  local hundreds, tens, ones = string.byte(text, AT.text.userBytes, END.text.userBytes)
  return string.sub(text, AT.text.rest, 100 * hundreds + 10 * tens + ones - DIGITS - 1)
end

-- Fills in whose task it is.
function F.owned(t)
  local f = t.recordText
  local last = END.text.userBytes + string.sub(f, AT.text.userBytes, END.text.userBytes)
  local stop = string.find(f, '\0', last + 1, true)
  t.user, t.queueName = string.sub(f, AT.text.rest, last), string.sub(f, last + 1, stop - 1)
  t.level, t.rest = string.byte(f, AT.text.level) - BYTE.zero, stop + 1
end

-- Fills in all facts that never change.
function F.fixed(t)
  if t.created then return t end
  F.owned(t)
  local f, a = t.recordText, t.rest
  local b = string.find(f, '\0', a, true)
  local c = string.find(f, '\0', b + 1, true)
  local d = string.find(f, '\0', c + 1, true)
  t.created, t.stamp = tonumber(string.sub(f, 1, END.text.created)), tonumber(string.sub(f, AT.text.stamp,
    END.text.stamp), 16)
  t.name, t.cost = string.sub(f, a, b - 1), tonumber(string.sub(f, b + 1, c - 1))
  t.optionsAt, t.body = c + 1, d + 1
  return t
end

-- When it was first put in line: its place among its user's tasks of its level.
function F.placeOf(t)
  return t.seq > 0 and t.seq or F.fixed(t).stamp
end

-- Its member in an index that is ordered by moments: ties go by arrival.
function F.member(t)
  return string.sub(t.recordText, AT.text.stamp, END.text.stamp) .. t.id
end

function F.idOf(member)
  return string.sub(member, 13)
end

function F.isLong(t)
  return t.kind % (2 * FLAG.kind.long) == 1
end

function F.payloadOf(t)
  F.fixed(t)
  if F.isLong(t) then return t.long or redis.call('HGET', K.payloads(), t.id) or '' end
  return string.sub(t.recordText, t.body)
end

function F.ownerOf(t)
  if not t.user then F.owned(t) end
  return F.userOf(F.queueOf(t.queueName), t.user)
end

function F.change(t)
  if t.dirty then return end
  t.dirty = true
  changed[#changed + 1] = t
end

-- A journal or channels of it are written: its removal looks for them.
function F.addKeys(t)
  if t.isBare then
    t.isBare = false
  elseif t.state == 'queued' and not t.hasFacts then
    t.seq = F.placeOf(t)
  else
    return
  end
  F.change(t)
end

-- Whether a token speaks for it: its lease is in force, or its handler waits and no other was given since.
function F.isAttendedBy(t, token)
  if t.token ~= token then return false end
  if t.state == 'started' then return true end
  local x = t.optional
  if not x or not x.attendedLease or x.asideFor or F.isEnd(t.state) then return false end
  return string.match(x.attendedLease, '^%d+ (%S*)') == token
end

-- The rare facts that change, to be changed.
function F.optionalOf(t)
  t.changing = t.changing or {}
  F.change(t)
  return t.changing
end

function F.setError(t, text)
  t.error = text
  redis.call('HSET', K.errors(), t.id, text)
end

-- Who waits for it, or for its end: see `ears`.
function F.saveEar(t)
  local ear = (t.dependents and 'd' or '') .. (t.listeners or '')
  local had = t.hasEar
  t.hasEar = ear ~= ''
  if t.hasEar then redis.call('HSET', K.ears(), t.id, ear) elseif had then redis.call('HDEL', K.ears(), t.id) end
  C.ears = C.ears + (t.hasEar and 1 or 0) - (had and 1 or 0)
end

-- Everything about it that is neither its text nor its lease nor its end, and whether that is only its place in
-- line, or when it is due; nil when there is nothing.
function F.packFacts(t)
  local flags = (t.left and FLAG.facts.left or 0) + (t.hasAttempts and FLAG.facts.attempts or 0) + (t.canceling
    and FLAG.facts.canceling or 0)
    + (t.inCascade and FLAG.facts.cascade or 0) + (t.hasLong and FLAG.facts.long or 0)
  local resting = t.state ~= 'started' and not F.isEnd(t.state)
  local o = resting and t.token ~= '' and t.token .. '\0' .. t.worker or nil
  if o and t.isSettled then flags = flags + FLAG.facts.settled end
  local y = t.changing and next(t.changing) and t.changing or nil
  local place = PLACES[t.state] or PLACE.line
  local isPlace = (place == PLACE.scheduled or place == PLACE.line and (F.isEnd(t.state) or t.at == 0)) and flags == 0
    and t.failures == 0 and t.losses == 0 and t.releases == 0 and t.readers == 0 and not t.optional and not y and not o
  if isPlace and place == PLACE.line and t.seq == 0 then return nil end
  local packed = struct.pack(FORMAT.facts, place, flags, t.seq, t.failures, t.losses, t.releases,
    F.isEnd(t.state) and 0 or t.at, t.readers)
  if not (t.optional or y or o) then return packed, isPlace end
  return packed .. cmsgpack.pack({ optional = t.optional, changing = y, latestLease = o })
end

-- A text with another byte for what parts the task has.
function F.withKind(text, byte)
  return string.sub(text, 1, AT.text.level) .. string.char(byte) .. string.sub(text, AT.text.userBytes)
end

-- The text of a task that has facts from now on which say more than its place in line; the same when it had such.
function F.withFacts(text)
  local kind = string.byte(text, AT.text.kind)
  if kind >= BYTE.facts and kind < BYTE.place then return text end
  return F.withKind(text, BYTE.facts + kind % FLAG.kind.facts)
end

function F.setKind(t, kind)
  if kind == t.kind then return end
  t.kind, t.textChanged = kind, true
  t.recordText = F.withKind(t.recordText, BYTE.zero + kind)
end

-- Writes of a step, gathered by key: field, value, field, value, … (or members without any).
function F.gather(writes, key, field, value)
  local row = writes[key]
  if not row then
    row = {}
    writes[key] = row
  end
  local n = #row
  row[n + 1], row[n + 2] = field, value
end

function F.saveTask(t, writes)
  if t.isGone then return end
  local packed, isPlace = F.packFacts(t)
  if packed then
    F.gather(writes, K.facts(), t.id, packed)
  elseif t.hasFacts then
    redis.call('HDEL', K.facts(), t.id)
  end
  t.hasFacts = packed and true or false
  F.setKind(t, t.kind % FLAG.kind.facts + (isPlace and packed and FLAG.kind.place or packed and FLAG.kind.facts or 0))
  if t.textChanged then F.gather(writes, K.tasks(), t.id, t.recordText) end
  t.textChanged = false
  if t.state == 'started' then
    if not t.queueName then F.owned(t) end
    F.gather(writes, K.hot(t.worker), t.id,
      struct.pack(FORMAT.lease, t.leasedAt, t.leaseUntil, t.chargedEpoch,
        (t.hasFacts and FLAG.lease.facts or 0) + (t.isCounted and FLAG.lease.counted or 0)
          + (t.isHanded and FLAG.lease.handed or 0) + (t.isBare and not packed and FLAG.lease.bare or 0), t.step) .. t.queueName .. '\0' .. t.token)
  elseif F.isEnd(t.state) then
    if t.result and not t.isApart and #t.result > LIMIT.apartBytes then
      redis.call('HSET', K.results(), t.id, t.result)
      t.isApart = true
    end
    F.gather(writes, K.ends(), t.id, struct.pack(FORMAT.ending, CODES[t.state] + (t.isSettled and FLAG.ending.settled or 0)
      + (t.isApart and FLAG.ending.apart or 0), t.at,
      t.leasedAt, t.endStamp) .. t.token .. '\0' .. t.worker .. '\0' .. (not t.isApart and t.result or ''))
  end
end
