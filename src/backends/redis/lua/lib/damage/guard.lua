-- Stands in front of the commands of a verb that is called as '!verb' or '?verb': after a call was broken off, and for
-- `reconcile`. Reads every record with care, and sets those aside that cannot be read; '?' notes them only, and
-- writes nothing about them.

function F.guardOf(real, look)
  local base = string.sub(KEYS[1], 1, -6)
  local guard = { damage = {}, pcall = real.pcall }
  local seconds, readable = nil, {}

  local SCALARS = Readable.wordsIn('GET HGET LINDEX ZSCORE LPOS LPOP RPOP')
  local ROWS = Readable.wordsIn('HGETALL HKEYS ZRANGE ZREVRANGE ZRANGEBYSCORE ZRANGEBYLEX LRANGE SMEMBERS SPOP XRANGE')
  local TYPES = { hash = Readable.wordsIn(TABLE.hashs), list = Readable.wordsIn(TABLE.lists), zset = Readable.wordsIn(TABLE.zsets), set = Readable.wordsIn(TABLE.sets),
    string = Readable.wordsIn(TABLE.strings), stream = Readable.wordsIn(TABLE.streams) }

  local function note(name, why, value)
    guard.damage[#guard.damage + 1] = name .. ': ' .. why
    if not look then real.pcall('HSET', base .. FAMILY.damaged, name, why .. '\0' .. (value or '')) end
  end

  local CHANNEL = { [FIELD.channel.counts] = '^%d+ %d+$', [FIELD.channel.signalCounts] = '^%d+ %d+ %d+$',
    [FIELD.channel.signalLine] = '^%d+ %d+$', [FIELD.channel.ask] = '^%d+ %d* {', [FIELD.channel.askClosing] = '^%d+ %l' }
  -- Whether a field of a hash can be read, by family. All others are texts, and say what they say.
  local CHECKS = {
    [FAMILY.user] = Readable.isUser, [FAMILY.fair] = Readable.isQueue, [FAMILY.clock] = Readable.isClock, [FAMILY.worker] = Readable.isWorker,
    [FAMILY.facts] = function(_, v) return Readable.isFacts(v) end,
    [FAMILY.ends] = function(_, v) return Readable.isEnd(v) end, [FAMILY.hot] = function(_, v) return Readable.isLease(v) end,
    [FAMILY.attempts] = function(_, v) return Readable.isJson(v) end,
    [FAMILY.key] = function(field, v)
      local key = field ~= FIELD.key.record or Readable.tableIn(cmsgpack.unpack, v)
      return key == true or (key and type(key.ownerId) == 'string' and Readable.isTexts(key.absorbedIds))
    end,
    [FAMILY.errorGroup] = function(field, v) return field == FIELD.errorGroup.newest or Readable.isCount(v) end,
    [FAMILY.userConfig] = function(_, v) return Readable.tableIn(cmsgpack.unpack, v) end,
    [FAMILY.schedule] = function(field, v)
      return v == '' or not Readable.wordsIn(MEMBERS.scheduleNumbers)[field] or Readable.isCount(v)
    end,
    [FAMILY.channel] = function(field, v) return string.find(v, CHANNEL[string.match(field, '^%l+:?')] or '') end,
    [FAMILY.streams] = function(field, v)
      return string.find(v, field == FIELD.streams.count and '^%d+$'
        or string.sub(field, 1, 2) == FIELD.streams.state and '^%d+ %d+ %d+ [01]$' or '^%S+ %d+$')
    end,
    [FAMILY.xcom] = function(field, v) return (field ~= FIELD.xcom.pushed and field ~= FIELD.xcom.keep) or Readable.isCount(v) end,
  }
  for _, family in ipairs({ FAMILY.holes, FAMILY.graphMeta, FAMILY.list, FAMILY.later }) do
    CHECKS[family] = function(_, v) return Readable.isCount(v) end
  end

  -- Family, what its name ends in, and its name without the prefix.
  local function nameOf(key)
    local whole = string.sub(key, #base + 1)
    local rest = string.match(whole, '^queue:[^:]+:(.*)$') or whole
    local family, last = string.match(rest, '^([^:]+):?(.*)$')
    return family or '', last or '', whole
  end

  -- The whole of a task goes: what is left of it says nothing that can be relied on.
  local function setTaskAside(id, why)
    note('task ' .. id, why, real.call('HGET', base .. FAMILY.tasks, id))
    if look then return end
    for _, part in ipairs({ FAMILY.tasks, FAMILY.facts, FAMILY.ends, FAMILY.results, FAMILY.errors,
      FAMILY.payloads, FAMILY.ears }) do real.pcall('HDEL', base .. part, id) end
  end

  local function pieceOf(part, id)
    local got = real.pcall('HGET', base .. part, id)
    return type(got) == 'string' and got
  end

  -- Why a task cannot be read; nil when it can.
  local function faultOf(id, f)
    if not Readable.isText(f) then return 'its text cannot be read' end
    local kind, facts, ended = string.byte(f, AT.text.kind) - BYTE.zero, pieceOf(FAMILY.facts, id), pieceOf(FAMILY.ends, id)
    if kind >= FLAG.kind.facts and not facts then return 'its facts are lost' end
    local code = ended and string.byte(ended) or 0
    if facts and (kind >= FLAG.kind.facts or code % FLAG.ending.bare >= FLAG.ending.awaited) and not Readable.isFacts(facts) then return 'its facts cannot be read' end
    if kind % (2 * FLAG.kind.long) == 1 and not pieceOf(FAMILY.payloads, id) then return 'its payload is lost' end
    if ended and not Readable.isEnd(ended) then return 'its end cannot be read' end
    if code % FLAG.ending.awaited >= FLAG.ending.apart and not pieceOf(FAMILY.results, id) then return 'its result is lost' end
  end

  -- What is read in place of a field that cannot be: a lease that has ended, else nothing.
  local function checked(key, field, value)
    if not value then return value end
    local family, last, whole = nameOf(key)
    if family == FAMILY.tasks then
      local why = readable[field] ~= value and faultOf(field, value)
      if not why then
        readable[field] = value
        return value
      end
      setTaskAside(field, why)
      return false
    end
    local check = CHECKS[family]
    if not check or check(field, value) then return value end
    if family == FAMILY.facts or family == FAMILY.ends then
      setTaskAside(field, 'its ' .. family .. ' cannot be read')
      return false
    end
    if family == FAMILY.hot then
      note('lease of ' .. field .. ' by ' .. last, 'cannot be read', value)
      local over = struct.pack(FORMAT.lease, 0, 0, 0, 0, 0) .. '\0' .. '0-damaged'
      if not look then real.call('HSET', key, field, over) end
      return over
    end
    note(whole .. ' ' .. field, 'cannot be read', value)
    if look then return false end
    real.call('HDEL', key, field)
    if family == FAMILY.worker then real.call('HDEL', KEYS[1], FIELD.clock.worker .. last) end
    if family == FAMILY.schedule and (field == FIELD.schedule.due or field == FIELD.schedule.slot) then
      real.call('HSET', key, FIELD.schedule.due, seconds .. '000', FIELD.schedule.slot, seconds .. '000')
    end
    return false
  end

  local function nothing(n)
    local found = {}
    for i = 1, n do found[i] = false end
    return found
  end

  -- What a command answers, once what stands in its way is out of it.
  local function ask(command, key, ...)
    local got = real.pcall(command, key, ...)
    if type(got) ~= 'table' or not got.err then return got end
    local name = string.sub(key, #base + 1)
    if string.find(got.err, 'WRONGTYPE', 1, true) then
      note('key ' .. name, 'is of a wrong type: ' .. real.call('TYPE', key).ok)
      if look then
        if command == 'HSCAN' then return { '0', {} } end
        return command == 'HMGET' and nothing(select('#', ...)) or ROWS[command] and {} or not SCALARS[command] and 0
      end
      real.call('RENAME', key, base .. FAMILY.setAside .. ':' .. name)
    elseif command == 'HINCRBY' and not look and string.find(got.err, 'not an integer', 1, true) then
      note(name .. ' ' .. (...), 'is no number')
      real.call('HDEL', key, (...))
    end
    return real.call(command, key, ...)
  end

  -- `step` 2: fields and values by turns; 1: members of a list.
  local function checkRows(key, rows, step)
    local kept = {}
    for i = 1, #rows, step do
      local value = rows[i + step - 1]
      if step == 1 and not CHECKS[FAMILY.attempts](nil, value) then
        note(string.sub(key, #base + 1), 'holds an attempt that cannot be read', value)
        if not look then real.call('LREM', key, 1, value) end
      elseif step == 1 or checked(key, rows[i], value) then
        for at_ = i, i + step - 1 do kept[#kept + 1] = rows[at_] end
      end
    end
    return kept
  end

  local function headOf(key) return tonumber(ask('ZRANGE', base .. key, 0, 0, 'WITHSCORES')[2]) or INF end

  local function firstOf(state) return ask('LLEN', base .. FAMILY.ended .. ':' .. state) > 0 and 0 or INF end

  -- What the namespace remembers from step to step, told anew from what it stands for; see lib/base/time.lua.
  -- Stamps go on from one that no step can have reached.
  function guard.newClock()
    local waiting = 0
    for _, id in ipairs(ask('ZRANGE', base .. FAMILY.workers, 0, -1)) do
      local field = FIELD.clock.worker .. id
      local packed = checked(KEYS[1], field, ask('HGET', KEYS[1], field))
      if packed and #Readable.lineOf(packed) > 1 then waiting = waiting + 1 end
    end
    local configs, missing = ask('SCARD', base .. FAMILY.configured), headOf(FAMILY.missingIds)
    local flags = (configs > 0 and FLAG.clock.configs or 0) + FLAG.clock.idle + (missing < INF and FLAG.clock.missing or 0)
    return struct.pack(FORMAT.clock, 0, headOf(FAMILY.leases), firstOf('finished'), firstOf('failed'), firstOf('canceled'), 0, 0,
      64000 * seconds, 1, waiting, ask('HLEN', base .. FAMILY.ears), flags),
      struct.pack(FORMAT.upkeep, 0, headOf(FAMILY.scheduledUsers), headOf(FAMILY.throttled), headOf(FAMILY.deadlines),
        headOf(FAMILY.cascade), headOf(FAMILY.listedWorkers), headOf(FAMILY.submissions), missing, configs,
        ask('EXISTS', base .. FAMILY.dropping), ask('EXISTS', base .. FAMILY.refreshing), headOf(FAMILY.schedulesDue),
        headOf(FAMILY.xcomEnds))
  end

  -- Whether the record says less than the namespace holds.
  local function readClock(got)
    local isClock_ = got[1] and checked(KEYS[1], FIELD.clock.numbers, got[1])
    local isUpkeep = got[2] and checked(KEYS[1], FIELD.clock.upkeep, got[2])
    if isClock_ and isUpkeep then return got end
    if not got[1] and not got[2]
      and real.call('EXISTS', base .. FAMILY.tasks, base .. FAMILY.queues, base .. FAMILY.workers) == 0 then return got end
    if not got[1] or not got[2] then note('clock', 'is lost') end
    got[1], got[2] = guard.newClock()
    if not look then real.call('HSET', KEYS[1], FIELD.clock.numbers, got[1], FIELD.clock.upkeep, got[2]) end
    return got
  end

  -- Of a worker that is known in part nothing is known: it announces itself anew. A user whose numbers are
  -- lost keeps what stands elsewhere: its weight in line, its settings.
  local function readFields(key, fields, got)
    local family, isWhole = nameOf(key), true
    for i = 1, #fields do
      local value = checked(key, fields[i], got[i])
      if got[i] and not value then isWhole = false end
      got[i] = value
    end
    if family == FAMILY.worker and not isWhole then return nothing(#fields) end
    if family == FAMILY.user and fields[1] == FIELD.user.numbers and not got[1] and got[3] then
      local own = cmsgpack.unpack(got[3]).userPart
      if type(own) ~= 'table' or not Readable.isFinite(own.weight) or next(own, next(own)) then
        note(string.sub(key, #base + 1), 'has no numbers', got[3])
        if not look then real.call('DEL', key) end
        return nothing(#fields)
      end
    end
    return got
  end

  function guard.call(command, key, ...)
    if not key then
      local moment = real.call(command)
      seconds = moment[1]
      return moment
    end
    local got = ask(command, key, ...)
    if command == 'HGET' then return checked(key, (...), got) end
    if command == 'HGETALL' then return checkRows(key, got, 2) end
    if command == 'HSCAN' then return { got[1], checkRows(key, got[2], 2) } end
    if command == 'LRANGE' and nameOf(key) == FAMILY.attempts then return checkRows(key, got, 1) end
    if command == 'LINDEX' and nameOf(key) == FAMILY.attempts and got and not Readable.isJson(got) then return false end
    if command ~= 'HMGET' then return got end
    -- The clock that a test sets.
    if not seconds then seconds = got[1] end
    if key == KEYS[1] and (...) == FIELD.clock.numbers then return readClock(got) end
    return readFields(key, { ... }, got)
  end

  -- False when the key has another type than its family; it stands aside then.
  function guard.checkKey(key)
    local family, is = nameOf(key), real.call('TYPE', key).ok
    for type_, families in pairs(TYPES) do
      if families[family] and is ~= type_ and is ~= 'none' then
        ask(type_ == 'hash' and 'HLEN' or type_ == 'list' and 'LLEN' or type_ == 'zset' and 'ZCARD'
          or type_ == 'set' and 'SCARD' or type_ == 'stream' and 'XLEN' or 'STRLEN', key)
        return false
      end
    end
    -- Large ones are read in parts, or with their tasks.
    local isLarge = family == FAMILY.facts or family == FAMILY.ends or family == FAMILY.hot or family == FAMILY.later
    if is == 'hash' and CHECKS[family] and not isLarge then guard.call('HGETALL', key) end
    return true
  end

  return guard
end
