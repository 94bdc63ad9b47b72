-- Keeps attempts that did not end well, and any once there is such a one.
-- @rare

function F.recordAttempt(t, outcome, decision, cause, err)
  local key = K.attempts(t.id)
  if t.hasAttempts then
    local newest = redis.call('LINDEX', key, -1)
    if newest then
      local last = cjson.decode(newest)
      if last.error and #last.error > LIMIT.oldErrorBytes then
        local cut = LIMIT.oldErrorBytes
        while string.byte(last.error, cut + 1) >= 128 and string.byte(last.error, cut + 1) < 192 do
          cut = cut - 1
        end
        last.error = string.sub(last.error, 1, cut)
        redis.call('LSET', key, -1, cjson.encode(last))
      end
    end
  end
  t.hasAttempts = true
  F.change(t)
  redis.call('RPUSH', key, cjson.encode({ attempt = t.failures + 1, worker = t.worker,
    leasedAt = t.leasedAt, endedAt = now, outcome = outcome, decision = decision,
    cause = cause, error = err }))
  redis.call('LTRIM', key, -LIMIT.attemptsKept, -1)
end
