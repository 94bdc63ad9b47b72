-- Stands in front of the commands of a verb that is called as '!verb' or '?verb': after a call was broken off, and for
-- `reconcile`. Reads every record with care, and sets those aside that cannot be read; '?' notes them only, and
-- writes nothing about them.
-- @rare

function F.guardOf(real, look)
  local base = string.sub(KEYS[1], 1, -6)
  local guard = { damage = {}, pcall = real.pcall }
  local INF, seconds, readable = math.huge, nil, {}

  local function set(words)
    local found = {}
    for word in string.gmatch(words, '%S+') do found[word] = true end
    return found
  end

  local SCALARS = set('GET HGET LINDEX ZSCORE LPOS LPOP RPOP')
  local ROWS = set('HGETALL HKEYS ZRANGE ZREVRANGE ZRANGEBYSCORE ZRANGEBYLEX LRANGE SMEMBERS SPOP XRANGE')
  local TYPES = { hash = set(TABLE.hashs), list = set(TABLE.lists), zset = set(TABLE.zsets), set = set(TABLE.sets),
    string = set(TABLE.strings), stream = set(TABLE.streams) }

  local function note(name, why, value)
    guard.damage[#guard.damage + 1] = name .. ': ' .. why
    if not look then real.pcall('HSET', base .. FAMILY.damaged, name, why .. '\0' .. (value or '')) end
  end

  local function isFinite(...)
    for i = 1, select('#', ...) do
      local value = select(i, ...)
      if type(value) ~= 'number' or value - value ~= 0 then return false end
    end
    return true
  end

  local function isCount(v) return isFinite(tonumber(v)) end

  -- nil when it is shorter than that.
  local function unpacked(format, text)
    if #text >= struct.size(format) then return { struct.unpack(format, text) } end
  end

  local function tableIn(unpack_, text)
    local fine, value = pcall(unpack_, text)
    return fine and type(value) == 'table' and value
  end

  local function isJson(text) return tableIn(cjson.decode, text) end

  local function isTexts(list)
    if list == nil then return true end
    if type(list) ~= 'table' then return false end
    for at_, one in pairs(list) do
      if type(at_) ~= 'number' or type(one) ~= 'string' then return false end
    end
    return true
  end

  local function isText(f)
    if not string.find(f, '^' .. string.rep('%d', WIDTH.created) .. string.rep('%x', WIDTH.stamp)
      .. '[1-6][0-;]%d%d%d') then return false end
    local last = END.text.userBytes + string.sub(f, AT.text.userBytes, END.text.userBytes)
    local queueName, name, cost, options = string.match(f, '^([%w][%w._-]*)%z([^%z]+)%z([^%z]*)%z([^%z]*)%z', last + 1)
    cost = tonumber(cost)
    return queueName and name and last >= AT.text.rest and isFinite(cost) and cost > 0 and (options == '' or isJson(options))
  end

  local function isFacts(v)
    local n = unpacked(FORMAT.facts, v)
    if not n or n[1] > PLACE.deferred or n[2] >= FLAG.facts.all or not isFinite(n[3], n[7]) or n[3] < 0 then return false end
    if #v < n[9] then return true end
    local more = tableIn(cmsgpack.unpack, string.sub(v, n[9]))
    if not more then return false end
    local x, y, o = more.optional, more.changing, more.latestLease
    if x ~= nil then
      if type(x) ~= 'table' or not isTexts(x.waitsOn) or not isTexts(x.suspendedFor) or not isTexts(x.awaitTargets)
        or not isTexts(x.assumed) then return false end
      if x.waitsOn and (type(x.policies) ~= 'table' or type(x.policies[1]) ~= 'string'
        or type(x.policies[2]) ~= 'string') then return false end
      for field in pairs(set(MEMBERS.moments)) do
        if x[field] ~= nil and not isFinite(x[field]) then return false end
      end
      for field in pairs(set(MEMBERS.texts)) do
        if x[field] ~= nil and type(x[field]) ~= 'string' then return false end
      end
    end
    return (y == nil or type(y) == 'table')
      and (o == nil or (type(o) == 'string' and string.find(o, '\0', 1, true) ~= nil))
  end

  local function isEnd(v)
    local n = unpacked(FORMAT.ending, v)
    local code = n and n[1] % FLAG.ending.settled
    return n and code >= CODE.finished and code <= CODE.canceled and n[1] < FLAG.ending.all and isFinite(n[2], n[3], n[4])
      and string.find(v, '^[^%z]*%z[^%z]*%z', n[5])
  end

  local function isLease(v)
    local n = unpacked(FORMAT.lease, v)
    return n and isFinite(n[1], n[2], n[5]) and n[1] >= 0 and n[2] >= 0 and n[4] < FLAG.lease.all
      and string.find(v, '^[%w._-]*%z%d+%-', n[6])
  end

  local function isNumber(v) return #v == 8 and isFinite((struct.unpack('<d', v))) end

  local function isUser(field, v)
    if field == FIELD.user.settings then
      local c = tableIn(cmsgpack.unpack, v)
      return c and type(c.userPart or c) == 'table' and isTexts(c.onLists)
    end
    if field == FIELD.user.mean then return isNumber(v) end
    if field == FIELD.user.shares then
      if #v < SIZE.shares or (#v - SIZE.shares) % SIZE.levelShare ~= 0 then return false end
      for at_ = AT.shares.rest, #v, SIZE.levelShare do
        local level, last, tag = struct.unpack(FORMAT.levelShare, v, at_)
        if level < 1 or level > 5 or not isFinite(last, tag) then return false end
      end
      return isFinite((struct.unpack('<d', v)))
    end
    local n = unpacked(FORMAT.user, v)
    if not n or #v ~= SIZE.user or n[3] >= FLAG.user.all or not isFinite(n[1], n[14]) then return false end
    for at_ = 5, 13 do
      if n[at_] >= 2 ^ 31 then return false end
    end
    return n[3] % 2 == 0 or n[4] > 0
  end

  local function isQueue(field, v)
    if field == FIELD.fair.settings then return tableIn(cmsgpack.unpack, v) end
    return field == FIELD.fair.mean and isNumber(v) or isCount(v)
  end

  local function isQueueNumbers(v)
    local size = (SIZE.queue + SIZE.seldom)
    if #v < size then return false end
    for at_ = 1, AT.queue.flags - 1, 8 do
      local value = struct.unpack('<d', v, at_)
      if not isFinite(value) and (value ~= INF or at_ ~= AT.queue.idleLeast) then return false end
    end
    if string.byte(v, AT.queue.flags) >= FLAG.queue.all or not isFinite(struct.unpack(FORMAT.seldom, v, AT.queue.rest)) then
      return false
    end
    if #v == size then return true end
    local fine, classes, lasts, parked = pcall(cmsgpack.unpack, string.sub(v, size + 1))
    if not fine or type(classes) ~= 'table' or type(lasts) ~= 'table' or not isFinite(parked) then return false end
    for class, count in pairs(classes) do
      if not string.find(class, '^[poa][ws]%-?[%d.e+-]+$') or not isFinite(count) then return false end
    end
    return true
  end

  local function lineOf(v)
    local n = unpacked(FORMAT.worker, v)
    return n and string.sub(v, n[6] + n[5])
  end

  local function isWorkerNumbers(v)
    local n = unpacked(FORMAT.worker, v)
    if not n or not isFinite(n[1], n[2], n[3]) or n[4] >= FLAG.worker.all or #v < n[6] + n[5] - 1 then return false end
    local last, line = string.sub(v, n[6], n[6] + n[5] - 1), lineOf(v)
    if last ~= '' and not string.find(last, '^%d+%-') then return false end
    -- It was woken, or handed a task.
    if #line <= 1 then return line == '' or line == '-' or line == '+' end
    local lines = tableIn(cmsgpack.unpack, line)
    return lines and #lines % 2 == 0 and isTexts(lines)
  end

  local function isClock(field, v)
    if string.sub(field, 1, #FIELD.clock.worker) == FIELD.clock.worker then return isWorkerNumbers(v) end
    if string.sub(field, 1, #FIELD.clock.queue) == FIELD.clock.queue then return isQueueNumbers(v) end
    if field ~= FIELD.clock.numbers and field ~= FIELD.clock.upkeep then return true end
    local isUpkeep = field == FIELD.clock.upkeep
    local size = isUpkeep and SIZE.upkeep or SIZE.clock
    if #v < size or (isUpkeep and #v > size) then return false end
    for at_ = 1, isUpkeep and #v or AT.clock.waiting - 1, 8 do
      local value = struct.unpack('<d', v, at_)
      if value ~= INF and not isFinite(value) then return false end
    end
    -- The alarm and its holders.
    return #v == size or (#v > size + 8 and string.find(v, ',', size + 9, true) ~= nil)
  end

  local function isWorker(field, v)
    if field == FIELD.worker.names then return string.find(v, '^,.*,$') end
    if field == FIELD.worker.lists then
      local lists = tableIn(cmsgpack.unpack, v)
      return lists and (lists.assignedList or lists.stealList) and isTexts({ lists.assignedList, lists.stealList })
    end
    if field == FIELD.worker.spec then return isJson(v) end
    return field == FIELD.worker.queues or field == FIELD.worker.instance or isCount(v)
  end

  local CHANNEL = { [FIELD.channel.counts] = '^%d+ %d+$', [FIELD.channel.signalCounts] = '^%d+ %d+ %d+$',
    [FIELD.channel.signalLine] = '^%d+ %d+$', [FIELD.channel.ask] = '^%d+ %d* {', [FIELD.channel.askClosing] = '^%d+ %l' }
  -- Whether a field of a hash can be read, by family. All others are texts, and say what they say.
  local CHECKS = {
    [FAMILY.user] = isUser, [FAMILY.fair] = isQueue, [FAMILY.clock] = isClock, [FAMILY.worker] = isWorker,
    [FAMILY.facts] = function(_, v) return isFacts(v) end,
    [FAMILY.ends] = function(_, v) return isEnd(v) end, [FAMILY.hot] = function(_, v) return isLease(v) end,
    [FAMILY.attempts] = function(_, v) return isJson(v) end,
    [FAMILY.key] = function(field, v)
      local key = field ~= FIELD.key.record or tableIn(cmsgpack.unpack, v)
      return key == true or (key and type(key.ownerId) == 'string' and isTexts(key.absorbedIds))
    end,
    [FAMILY.errorGroup] = function(field, v) return field == FIELD.errorGroup.newest or isCount(v) end,
    [FAMILY.userConfig] = function(_, v) return tableIn(cmsgpack.unpack, v) end,
    [FAMILY.schedule] = function(field, v)
      return v == '' or not set(MEMBERS.scheduleNumbers)[field] or isCount(v)
    end,
    [FAMILY.channel] = function(field, v) return string.find(v, CHANNEL[string.match(field, '^%l+:?')] or '') end,
    [FAMILY.streams] = function(field, v)
      return string.find(v, field == FIELD.streams.count and '^%d+$'
        or string.sub(field, 1, 2) == FIELD.streams.state and '^%d+ %d+ %d+ [01]$' or '^%S+ %d+$')
    end,
    [FAMILY.xcom] = function(field, v) return (field ~= FIELD.xcom.pushed and field ~= FIELD.xcom.keep) or isCount(v) end,
  }
  for _, family in ipairs({ FAMILY.holes, FAMILY.graphMeta, FAMILY.list, FAMILY.later }) do
    CHECKS[family] = function(_, v) return isCount(v) end
  end

  -- Family, what its name ends in, and its name without the prefix.
  local function nameOf(key)
    local whole = string.sub(key, #base + 1)
    local rest = string.match(whole, '^queue:[^:]+:(.*)$') or whole
    local family, last = string.match(rest, '^([^:]+):?(.*)$')
    return family or '', last or '', whole
  end

  -- The whole of a task goes: what is left of it says nothing that anybody may rely on.
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
    if not isText(f) then return 'its text cannot be read' end
    local kind, facts, ended = string.byte(f, AT.text.kind) - BYTE.zero, pieceOf(FAMILY.facts, id), pieceOf(FAMILY.ends, id)
    if kind >= FLAG.kind.facts and not facts then return 'its facts are lost' end
    local code = ended and string.byte(ended) or 0
    if facts and (kind >= FLAG.kind.facts or code >= FLAG.ending.awaited) and not isFacts(facts) then return 'its facts cannot be read' end
    if kind % (2 * FLAG.kind.long) == 1 and not pieceOf(FAMILY.payloads, id) then return 'its payload is lost' end
    if ended and not isEnd(ended) then return 'its end cannot be read' end
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

  -- What the namespace remembers from step to step, told anew from what it stands for; see lib/time.lua.
  -- Stamps go on from one that no step can have reached.
  function guard.newClock()
    local waiting = 0
    for _, id in ipairs(ask('ZRANGE', base .. FAMILY.workers, 0, -1)) do
      local field = FIELD.clock.worker .. id
      local packed = checked(KEYS[1], field, ask('HGET', KEYS[1], field))
      if packed and #lineOf(packed) > 1 then waiting = waiting + 1 end
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
      if type(own) ~= 'table' or not isFinite(own.weight) or next(own, next(own)) then
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
    if command == 'LINDEX' and nameOf(key) == FAMILY.attempts and got and not isJson(got) then return false end
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
