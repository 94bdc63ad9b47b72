-- Keeps attempts that did not end well, and any once there is such a one.

-- Of the newest attempt there is another behind it from now on: its error, which is long, is cut.
function F.cutNewest(key)
  local newest = redis.call('LINDEX', key, -1)
  if not newest or #newest <= LIMIT.oldErrorBytes then return end
  local last = cjson.decode(newest)
  if not last.error or #last.error <= LIMIT.oldErrorBytes then return end
  local cut = LIMIT.oldErrorBytes
  while string.byte(last.error, cut + 1) >= 128 and string.byte(last.error, cut + 1) < 192 do
    cut = cut - 1
  end
  last.error = string.sub(last.error, 1, cut)
  redis.call('LSET', key, -1, cjson.encode(last))
end

-- A text as JSON; many are the same.
function F.quoted(text)
  if text ~= F.quotedText then F.quotedText, F.quotedAs = text, cjson.encode(text) end
  return F.quotedAs
end

-- What is said of an attempt behind its number: of many the same.
function F.attemptText(worker, leasedAt, outcome, decision)
  return string.format(',"worker":%s,"leasedAt":%.0f,"endedAt":%.0f,"outcome":"%s","decision":"%s"',
    cjson.encode(worker), leasedAt, now, outcome, decision)
end

-- The whole of it, behind so many that have failed.
function F.attemptOf(failures, text)
  return '{"attempt":' .. failures + 1 .. text .. '}'
end

-- `cuts`: the newest before has a long error.
function F.keepAttempt(id, cuts, text)
  local key = K.attempts(id)
  if cuts then F.cutNewest(key) end
  if redis.call('RPUSH', key, text) > LIMIT.attemptsKept then
    redis.call('LTRIM', key, -LIMIT.attemptsKept, -1)
  end
end

function F.pushAttempt(t, outcome, decision, cause, err)
  local text = F.attemptText(t.worker, t.leasedAt, outcome, decision)
  if cause then text = text .. ',"cause":' .. F.quoted(cause) end
  if err then text = text .. ',"error":' .. cjson.encode(err) end
  F.keepAttempt(t.id, t.hasLong, F.attemptOf(t.failures, text))
  t.hasLong = err and #err > LIMIT.oldErrorBytes
end

function F.recordAttempt(t, outcome, decision, cause, err)
  F.pushAttempt(t, outcome, decision, cause, err)
  t.hasAttempts = true
  F.change(t)
end
