-- Applies one decision, if the lease that it speaks for is still in force.

function Decide.finish(t, u, result)
  if t.hasAttempts then F.recordAttempt(t, 'succeeded', 'finish') end
  F.countAttempt(t.worker, 'succeeded')
  F.endTask(t, u, 'finished', { result = result })
end

function Decide.retry(t, u, delay, cause, err)
  F.recordAttempt(t, 'failed', 'retry', cause, err)
  F.countAttempt(t.worker, FIELD.worker.failed)
  t.failures = t.failures + 1
  F.setError(t, err)
  Failures.retried(t, cause)
  u.queue.retried = u.queue.retried + 1
  F.comeBack(t, u, tonumber(delay))
end

function Decide.deadLetter(t, u, cause, err)
  F.recordAttempt(t, 'failed', 'dead-letter', cause, err)
  F.countAttempt(t.worker, FIELD.worker.failed)
  t.failures = t.failures + 1
  F.endTask(t, u, 'failed', { cause = cause, error = err })
end

function Decide.cancel(t, u, cause)
  F.recordAttempt(t, 'canceled', 'cancel', cause)
  F.endTask(t, u, 'canceled', { cause = cause })
end

function Decide.release(t, u, delay, cause)
  F.recordAttempt(t, 'released', 'release', cause)
  -- The turn of one that waited was over.
  if t.state == 'started' then F.giveBack(t, u) end
  if delay ~= '' then t.releases = t.releases + 1 end
  F.comeBack(t, u, delay == '' and 0 or tonumber(delay), delay ~= '')
end

function Decide.by(decision, t, u, a, b, c)
  if decision == 'finish' or decision == 'write' then return Decide.finish(t, u, a) end
  if decision == 'cancel' then return Decide.cancel(t, u, a) end
  if decision == 'suspend' then return Decide.suspend(t, u, a, b, c) end
  if decision == 'release' then return Decide.release(t, u, a, b) end
  if decision == 'retry' then return Decide.retry(t, u, a, b, c) end
  Decide.deadLetter(t, u, a, b)
end

-- A settlement of a call: its place there, where its id stands in ARGV, its token, how far behind its result
-- stands, where its decision stands if that is not 'finish', and the lease as its worker holds it.
function Settle.one(reply, place, at_, token, apart, row, packed)
  local answer
  if row then
    answer = F.settleOne(ARGV[at_], token, ARGV[row + 1], ARGV[at_ + apart], ARGV[row + 2], ARGV[row + 3], packed)
  else
    answer = F.settleOne(ARGV[at_], token, 'finish', ARGV[at_ + apart], '', '', packed)
  end
  if answer == 'ok finished' then return end
  reply[#reply + 1] = place
  reply[#reply + 1] = answer
end

function F.settleOne(id, token, decision, a, b, c, lease)
  local t = F.taskOf(id, ARGV[1], lease)
  if not t then return 'notFound' end
  local own = t.token == token
  -- The newest that was settled: its own, or the one before.
  local settled = t.isSettled and t.token or t.changing and t.changing.settledToken
  local waits = own and Suspend.mayEnd(t, token, decision, a, c)
  if settled == token and not waits then return 'repeated ' .. t.state end
  if not waits and not (own and t.state == 'started') then return 'leaseLost' end
  -- 'write' is 'finish', with what the handler wrote behind the result.
  local writes = decision == 'write' and not t.canceling
  local refused = writes and F.applyWrites(b, c, t.id)
  if refused then return refused end
  local u = F.ownerOf(t)
  if waits then Suspend.callBack(t) end
  if t.canceling then
    Decide.cancel(t, u, t.changing.cancelCause)
  else
    Decide.by(decision, t, u, a, b, c)
  end
  t.isSettled = true
  return t.state == 'finished' and 'ok finished' or 'ok ' .. t.state
end
