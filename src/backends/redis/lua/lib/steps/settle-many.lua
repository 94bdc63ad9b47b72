-- Settles the tasks of a call: those that finish as most do, run by run, all others one by one.

-- How the end of a task is coded that a worker has said to have finished.
local FINISHED = (CODE.finished + FLAG.ending.settled)

-- The same of one with this lease, which knows whether anything but its text is kept of it.
function Settle.endingOf(packed)
  return string.byte(packed, AT.lease.flags) >= FLAG.lease.bare and (FINISHED + FLAG.ending.bare) or FINISHED
end

-- Fields and values of one command: used again from call to call.
local ROWS = {}

-- Who waits for tasks that have finished hears of it; as ARGV holds them, the first of the call behind `ids`.
function Settle.notify(ears, ids, first, last, apart)
  local notified, known, channels = {}, nil, nil
  for i = first, last do
    local ear = ears[i - ids]
    if ear and ear ~= 'd' then
      notified[#notified + 1] = ARGV[i]
      if ear ~= known then known, channels = ear, F.channelsOf(ear) end
      F.notifyEnd(channels, ARGV[i], DIGIT.finished, ARGV[i + apart], '', '')
    end
  end
  if #notified > 0 then C.ears = C.ears - redis.call('HDEL', K.ears(), unpack(notified)) end
end

-- How tasks of one lease have finished, as ARGV holds them from `first` to `last`, with their results `apart` behind: fields and
-- values to be written, behind so many.
function Settle.addEnds(rows, k, packed, token, first, last, apart)
  local before = struct.pack('<Bd', Settle.endingOf(packed), now) .. string.sub(packed, 1, END.lease.leasedAt)
  local behind, stamp = token .. '\0' .. ARGV[1] .. '\0', C.stamp
  for i = first, last do
    stamp = stamp + 1
    rows[k + 1], rows[k + 2] = ARGV[i], before .. struct.pack('<d', stamp) .. behind .. ARGV[i + apart]
    k = k + 2
  end
  local till = struct.unpack('<d', packed, AT.lease.ends)
  if not C.freed or till < C.freed then C.freed = till end
  C.stamp = stamp
end

-- Writes how tasks have finished, as ARGV holds them, and that their leases are over.
function Settle.saveEnds(worker, rows, first, last)
  local n, hot = last - first + 1, K.hot(ARGV[1])
  if n == 1 then
    redis.call('HSET', K.ends(), rows[1], rows[2])
    redis.call('HDEL', hot, rows[1])
    redis.call('RPUSH', K.ended('finished'), rows[1])
  else
    redis.call('HSET', K.ends(), unpack(rows, 1, 2 * n))
    redis.call('HDEL', hot, unpack(ARGV, first, last))
    redis.call('RPUSH', K.ended('finished'), unpack(ARGV, first, last))
  end
  C.freed = C.freed or INF
  if now < H.finished then H.finished = now end
  if worker then worker.succeeded = worker.succeeded + n else F.countAttempt(ARGV[1], 'succeeded', n) end
end

-- So many tasks of a queue that were started have finished.
function Settle.count(queue, n)
  local counts = queue.counts
  counts.started, counts.finished, queue.finished = counts.started - n, counts.finished + n, queue.finished + n
end

-- Tasks of one lease finish.
function Settle.finish(worker, packed, token, first, last, apart)
  local queue = F.queueOf(string.sub(packed, AT.lease.rest, -#token - 2))
  F.flushEnded()
  Settle.addEnds(ROWS, 0, packed, token, first, last, apart)
  Settle.saveEnds(worker, ROWS, first, last)
  Settle.count(queue, last - first + 1)
  F.touchQueue(queue)
end

-- Whether the task of a lease with this token is usual: nothing else is known of it, and its user has
-- no record.
function Settle.isMost(packed, token)
  return string.byte(packed, AT.lease.flags) % (2 * FLAG.lease.counted) == 0
    and string.sub(packed, -#token - 1) == '\0' .. token
end

-- Where the decision of each stands that is not 'finish', by its place in the call.
function Settle.others(from, count)
  local others = {}
  for i = from, from + 4 * (count - 1), 4 do others[ARGV[i] + 0] = i end
  return others
end

-- What the worker has of the tasks of the call, and who waits for them.
function Settle.read(counts)
  local n, ids = counts.n, counts.ids
  if n == 0 then return NONE, false end
  return redis.call('HMGET', K.hot(ARGV[1]), unpack(ARGV, ids + 1, ids + n)),
    C.ears > 0 and redis.call('HMGET', K.ears(), unpack(ARGV, ids + 1, ids + n))
end

-- Whether others depend on the task, which hear of its end before those that only listen.
function Settle.isReadBy(ears, i)
  return ears[i] and string.byte(ears[i]) == 100
end

-- ARGV from 2: the counts (`F.countsOf`), the token of each group, all ids, all results (or first arguments), and of each
-- that is not 'finish' its place, decision and two more arguments. Appends to the reply place and answer of
-- each that is not 'ok finished'.
function Settle.all(worker, reply, counts, hot, ears)
  local n, special, groups, ids = counts.n, counts.special, counts.groups, counts.ids
  local rows = ids + 2 * n + 1
  if n == 0 then return end
  local others, done, call = NONE, NONE, nil
  -- A task may be settled twice in one call.
  if special > 0 then others, done = Settle.others(rows, special), {} end
  local i = 1
  for g = 1, groups do
    local token, last = ARGV[2 + g], i + counts.sizes[g] - 1
    while i <= last do
      local packed = hot[i]
      if packed and not others[i] and Settle.isAmongMany(packed, token) and not Settle.isSpecial(ids, i, ears) then
        local stop = i
        while stop < last and hot[stop + 1] == packed and not others[stop + 1]
          and not Settle.isSpecial(ids, stop + 1, ears) do
          stop = stop + 1
        end
        Settle.finishAlso(packed, ids, i, stop)
        Settle.finish(worker, packed, token, ids + i, ids + stop, n)
        if ears then Settle.notify(ears, ids, ids + i, ids + stop, n) end
        for at_ = i, special > 0 and stop or 0 do done[ARGV[ids + at_]] = true end
        i = stop + 1
      else
        call = call or { ids = ids, n = n, hot = hot, ears = ears, others = others, done = special > 0 and done or {} }
        local settled = Settle.some(worker, call, reply, i, last, token)
        if settled == 0 then
          Settle.one(reply, i, ids + i, token, n, others[i], not done[ARGV[ids + i]] and packed or nil)
          settled = 1
        end
        i = i + settled
      end
    end
  end
end
