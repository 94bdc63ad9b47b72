-- Tells what is stored about a task: five texts for each, which `decodeRecord` reads: f, the long payload,
-- result, error, and what changes as JSON. Payload and result only if values are asked for.

function F.bytesLess(a, b)
  return F.before(a, b)
end

function F.blockedBy(t)
  if not (t.optional and (t.optional.waitsOn or t.optional.suspendedFor)) then return nil end
  local ids = redis.call('SMEMBERS', K.blocked(t.id))
  table.sort(ids, F.bytesLess)
  return #ids > 0 and ids or nil
end

function F.expiresAt(t)
  if not t.optional or F.isEnd(t.state) then return nil end
  return t.optional.startUntil
end

-- Answers what it weighs: what its page is charged for it.
function F.addRecord(reply, t, values)
  F.fixed(t)
  local ended, started = F.isEnd(t.state), t.state == 'started'
  local n, payload, result = #reply, values and F.payloadOf(t) or '', values and F.resultOf(t) or false
  local failure = redis.call('HGET', K.errors(), t.id)
  local bytes = #payload + #(result or '') + #(failure or '')
  -- A short result was read with its end, told or not.
  F.spend(1.5 + #(t.optional and t.optional.waitsOn or NONE) / 12, values and bytes or bytes + #(t.result or ''))
  reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4] = string.sub(t.recordText, 1, t.body - 1), payload,
    result, failure
  reply[n + 5] = cjson.encode({
    id = t.id, state = t.state, failures = t.failures, losses = t.losses, releases = t.releases,
    dependsOn = t.optional and t.optional.waitsOn, blockedBy = F.blockedBy(t),
    cancelRequested = started and t.canceling or false,
    dueAt = t.state == 'scheduled' and t.at or nil, expiresAt = F.expiresAt(t),
    token = started and t.token or nil, worker = started and t.worker or nil,
    leasedAt = started and t.leasedAt or nil,
    leaseUntil = started and t.leaseUntil or nil,
    endedAt = ended and t.at or nil,
    cause = t.changing and t.changing.endCause or nil,
    idempotencyKey = t.optional and t.optional.keyName or nil,
    paused = t.optional and t.optional.pausedSince and { since = t.optional.pausedSince, reason = t.optional.pauseReason } or nil,
  })
  return bytes
end
