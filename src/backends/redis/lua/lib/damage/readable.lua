-- Whether what is stored can be read, by kind of record: for calls with care (lib/damage/guard.lua).

function Readable.wordsIn(words)
  local found = {}
  for word in string.gmatch(words, '%S+') do found[word] = true end
  return found
end

function Readable.isFinite(...)
  for i = 1, select('#', ...) do
    local value = select(i, ...)
    if type(value) ~= 'number' or value - value ~= 0 then return false end
  end
  return true
end

function Readable.isCount(v) return Readable.isFinite(tonumber(v)) end

-- nil when it is shorter than that.
function Readable.unpacked(format, text)
  if #text >= struct.size(format) then return { struct.unpack(format, text) } end
end

function Readable.tableIn(unpack_, text)
  local fine, value = pcall(unpack_, text)
  return fine and type(value) == 'table' and value
end

function Readable.isJson(text) return Readable.tableIn(cjson.decode, text) end

function Readable.isTexts(list)
  if list == nil then return true end
  if type(list) ~= 'table' then return false end
  for at_, one in pairs(list) do
    if type(at_) ~= 'number' or type(one) ~= 'string' then return false end
  end
  return true
end

function Readable.isText(f)
  if not string.find(f, '^' .. string.rep('%d', WIDTH.created) .. string.rep('%x', WIDTH.stamp)
    .. '[1-6][0-;]%d%d%d') then return false end
  local last = END.text.userBytes + string.sub(f, AT.text.userBytes, END.text.userBytes)
  local queueName, name, cost, options = string.match(f, '^([%w][%w._-]*)%z([^%z]+)%z([^%z]*)%z([^%z]*)%z', last + 1)
  cost = tonumber(cost)
  return queueName and name and last >= AT.text.rest and Readable.isFinite(cost) and cost > 0 and (options == '' or Readable.isJson(options))
end

function Readable.isFacts(v)
  local n = Readable.unpacked(FORMAT.facts, v)
  if not n or n[1] > PLACE.deferred or n[2] >= FLAG.facts.all or not Readable.isFinite(n[3], n[7]) or n[3] < 0 then return false end
  if #v < n[9] then return true end
  local more = Readable.tableIn(cmsgpack.unpack, string.sub(v, n[9]))
  if not more then return false end
  local x, y, o = more.optional, more.changing, more.latestLease
  if x ~= nil then
    if type(x) ~= 'table' or not Readable.isTexts(x.waitsOn) or not Readable.isTexts(x.suspendedFor) or not Readable.isTexts(x.awaitTargets)
      or not Readable.isTexts(x.assumed) then return false end
    if x.waitsOn and (type(x.policies) ~= 'table' or type(x.policies[1]) ~= 'string'
      or type(x.policies[2]) ~= 'string') then return false end
    for field in pairs(Readable.wordsIn(MEMBERS.moments)) do
      if x[field] ~= nil and not Readable.isFinite(x[field]) then return false end
    end
    for field in pairs(Readable.wordsIn(MEMBERS.texts)) do
      if x[field] ~= nil and type(x[field]) ~= 'string' then return false end
    end
  end
  return (y == nil or type(y) == 'table')
    and (o == nil or (type(o) == 'string' and string.find(o, '\0', 1, true) ~= nil))
end

function Readable.isEnd(v)
  local n = Readable.unpacked(FORMAT.ending, v)
  local code = n and n[1] % FLAG.ending.settled
  return n and code >= CODE.finished and code <= CODE.canceled and n[1] < FLAG.ending.all and Readable.isFinite(n[2], n[3], n[4])
    and string.find(v, '^[^%z]*%z[^%z]*%z', n[5])
end

function Readable.isLease(v)
  local n = Readable.unpacked(FORMAT.lease, v)
  return n and Readable.isFinite(n[1], n[2], n[5]) and n[1] >= 0 and n[2] >= 0 and n[4] < FLAG.lease.all
    and string.find(v, '^[%w._-]*%z%d+%-', n[6])
end

function Readable.isNumber(v) return #v == 8 and Readable.isFinite((struct.unpack('<d', v))) end

function Readable.isUser(field, v)
  if field == FIELD.user.settings then
    local c = Readable.tableIn(cmsgpack.unpack, v)
    return c and type(c.userPart or c) == 'table' and Readable.isTexts(c.onLists)
  end
  if field == FIELD.user.mean then return Readable.isNumber(v) end
  if field == FIELD.user.shares then
    if #v < SIZE.shares or (#v - SIZE.shares) % SIZE.levelShare ~= 0 then return false end
    for at_ = AT.shares.rest, #v, SIZE.levelShare do
      local level, turns = struct.unpack(FORMAT.levelShare, v, at_)
      if level < 1 or level > 5 or not Readable.isFinite(turns) then return false end
    end
    return true
  end
  local n = Readable.unpacked(FORMAT.user, v)
  if not n or #v ~= SIZE.user or n[3] >= FLAG.user.all or not Readable.isFinite(n[1], n[14]) then return false end
  for at_ = 5, 13 do
    if n[at_] >= 2 ^ 31 then return false end
  end
  return n[3] % 2 == 0 or n[4] > 0
end

function Readable.isQueue(field, v)
  if field == FIELD.fair.settings then return Readable.tableIn(cmsgpack.unpack, v) end
  return field == FIELD.fair.mean and Readable.isNumber(v) or Readable.isCount(v)
end

function Readable.isQueueNumbers(v)
  local size = (SIZE.queue + SIZE.seldom)
  if #v < size then return false end
  for at_ = 1, AT.queue.flags - 1, 8 do
    local value = struct.unpack('<d', v, at_)
    if not Readable.isFinite(value) and (value ~= INF or at_ ~= AT.queue.idleLeast) then return false end
  end
  if string.byte(v, AT.queue.flags) >= FLAG.queue.all or not Readable.isFinite(struct.unpack(FORMAT.seldom, v, AT.queue.rest)) then
    return false
  end
  if #v == size then return true end
  local fine, classes, lasts, parked = pcall(cmsgpack.unpack, string.sub(v, size + 1))
  if not fine or type(classes) ~= 'table' or type(lasts) ~= 'table' or not Readable.isFinite(parked) then return false end
  for class, count in pairs(classes) do
    if not string.find(class, '^[poa][ws]%-?[%d.e+-]+$') or not Readable.isFinite(count) then return false end
  end
  return true
end

function Readable.lineOf(v)
  local n = Readable.unpacked(FORMAT.worker, v)
  return n and string.sub(v, n[6] + n[5])
end

function Readable.isWorkerNumbers(v)
  local n = Readable.unpacked(FORMAT.worker, v)
  if not n or not Readable.isFinite(n[1], n[2], n[3]) or n[4] >= FLAG.worker.all or #v < n[6] + n[5] - 1 then return false end
  local last, line = string.sub(v, n[6], n[6] + n[5] - 1), Readable.lineOf(v)
  if last ~= '' and not string.find(last, '^%d+%-') then return false end
  -- It was woken, or handed a task.
  if #line <= 1 then return line == '' or line == '-' or line == '+' end
  local lines = Readable.tableIn(cmsgpack.unpack, line)
  return lines and #lines % 2 == 0 and Readable.isTexts(lines)
end

function Readable.isClock(field, v)
  if string.sub(field, 1, #FIELD.clock.worker) == FIELD.clock.worker then return Readable.isWorkerNumbers(v) end
  if string.sub(field, 1, #FIELD.clock.queue) == FIELD.clock.queue then return Readable.isQueueNumbers(v) end
  if field ~= FIELD.clock.numbers and field ~= FIELD.clock.upkeep then return true end
  local isUpkeep = field == FIELD.clock.upkeep
  local size = isUpkeep and SIZE.upkeep or SIZE.clock
  if #v < size or (isUpkeep and #v > size) then return false end
  for at_ = 1, isUpkeep and #v or AT.clock.waiting - 1, 8 do
    local value = struct.unpack('<d', v, at_)
    if value ~= INF and not Readable.isFinite(value) then return false end
  end
  -- The alarm and its holders.
  return #v == size or (#v > size + 8 and string.find(v, ',', size + 9, true) ~= nil)
end

function Readable.isWorker(field, v)
  if field == FIELD.worker.names then return string.find(v, '^,.*,$') end
  if field == FIELD.worker.lists then
    local lists = Readable.tableIn(cmsgpack.unpack, v)
    return lists and (lists.assignedList or lists.stealList) and Readable.isTexts({ lists.assignedList, lists.stealList })
  end
  if field == FIELD.worker.spec then return Readable.isJson(v) end
  return field == FIELD.worker.queues or field == FIELD.worker.instance or Readable.isCount(v)
end
