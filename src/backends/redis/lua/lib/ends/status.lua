-- Tells how tasks stand, and what they came to, without the rest of their records.

-- Four values behind the `n` that the reply has: the code of its state (lib/turns/working.lua; 0 when there is no task),
-- result, error and cause (JSON), each false where there is none.
function F.addStatus(reply, n, t)
  reply[n + 1] = t and CODES[t.state] or 0
  reply[n + 2] = t and F.resultOf(t) or false
  reply[n + 3] = t and redis.call('HGET', K.errors(), t.id) or false
  reply[n + 4] = t and t.changing and t.changing.endCause or false
end
