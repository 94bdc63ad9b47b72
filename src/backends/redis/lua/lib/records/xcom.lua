-- Keeps named values of users, as src/domain/task/xcom.ts has them: a hash each. A place is <bytes>:<user> and the pair of
-- namespace and key; an index knows when to look whether a value is over.

function XCom.placeOf(user, namespace, key)
  local rest = K.pair(namespace, key)
  return K.pair(user, rest)
end

function XCom.drop(user, namespace, key)
  local place, space = XCom.placeOf(user, namespace, key), K.pair(user, namespace)
  if redis.call('DEL', K.xcom(place)) == 0 then return end
  F.move('xcom-ends', place, false)
  redis.call('ZREM', K.xcomKeys(space), key)
  if redis.call('EXISTS', K.xcomKeys(space)) == 0 then
    redis.call('ZREM', K.xcomNamespaces(user), namespace)
  end
end

function XCom.push(writer, user, namespace, key, text, keepMs)
  local place, space = XCom.placeOf(user, namespace, key), K.pair(user, namespace)
  redis.call('HSET', K.xcom(place), FIELD.xcom.value, text, FIELD.xcom.writer, writer, FIELD.xcom.pushed,
    string.format('%.0f', now), FIELD.xcom.keep, keepMs)
  redis.call('ZADD', K.xcomKeys(space), 0, key)
  redis.call('ZADD', K.xcomNamespaces(user), 0, namespace)
  F.move('xcom-ends', place, now + keepMs)
end

-- Applies rows of {'push', user, namespace, key, text, ms} or {'drop', user, namespace, key}, in
-- order, on behalf of a task or of none ('').
function XCom.write(writer, rows)
  for _, row in ipairs(rows) do
    if row[1] == 'push' then
      XCom.push(writer, row[2], row[3], row[4], row[5], row[6])
    else
      XCom.drop(row[2], row[3], row[4])
    end
  end
end

-- When a value goes; false while a task keeps it.
function XCom.endOf(writer, pushedAt, keepMs)
  local t = writer ~= '' and F.taskOf(writer)
  if not t then return pushedAt + keepMs end
  F.spend(0.5, #(t.result or ''))
  if not F.isEnd(t.state) or t.readers > 0 then return false end
  return math.max(pushedAt, t.at) + keepMs
end

-- Appends a value to a reply: 'found', writer, when it was pushed, when it goes or ''; one '' when it
-- is not there. The text is told last, and only if it is asked for.
function XCom.append(reply, place, withText)
  local got = redis.call('HMGET', K.xcom(place), FIELD.xcom.writer, FIELD.xcom.pushed, FIELD.xcom.keep, withText
    and FIELD.xcom.value or FIELD.xcom.writer)
  local till = got[1] and XCom.endOf(got[1], tonumber(got[2]), tonumber(got[3]))
  local n = #reply
  if not got[1] or (till and till <= now) then
    reply[n + 1] = ''
    return
  end
  reply[n + 1], reply[n + 2], reply[n + 3] = 'found', got[1], got[2]
  reply[n + 4] = till and string.format('%.0f', till) or ''
  if withText then reply[n + 5] = got[4] end
end
