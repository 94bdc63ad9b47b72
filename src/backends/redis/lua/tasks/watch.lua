-- Asks for messages when tasks end.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  channel  where to tell; '' when no process listens
-- ARGV[2..]  ids    of tasks
-- Returns  four values for each id: as lib/ends/status.lua tells them when it has ended, 8 in place of its state when it
--          has not, 0 when it is unknown or what it came to is long
-- Cost     O(ids + bytes)

F.beginUsual('')
F.beginStep()
local texts = redis.call('HMGET', K.tasks(), unpack(ARGV, 2))
local ends = redis.call('HMGET', K.ends(), unpack(ARGV, 2))
local ears = C.ears > 0 and redis.call('HMGET', K.ears(), unpack(ARGV, 2))
local channel, rows, more, reply = ' ' .. ARGV[1], {}, 0, {}
for i = 1, #texts do
  local text, ended, n = texts[i], ends[i], 4 * i - 4
  reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4] = text and not ended and CODE.notEnded or 0, false, false, false
  if text and ended and string.byte(ended) % FLAG.ending.bare == (CODE.finished + FLAG.ending.settled)
    and string.byte(text, AT.text.kind) < BYTE.facts then
    -- It has finished, and nothing else is known of it.
    local b = string.find(ended, '\0', string.find(ended, '\0', AT.ending.rest, true) + 1, true)
    if #ended - b <= LIMIT.noticeBytes then reply[n + 1], reply[n + 2] = CODE.finished, string.sub(ended, b + 1) end
  elseif text and ended then
    F.readAll()
    F.addStatus(reply, n, F.taskOf(ARGV[i + 1]))
    if #(reply[n + 2] or '') + #(reply[n + 3] or '') > LIMIT.noticeBytes then
      reply[n + 1], reply[n + 2], reply[n + 3] = 0, false, false
    end
  elseif text and channel ~= ' ' then
    local ear = ears and ears[i]
    if not ear or not string.find(ear .. ' ', channel .. ' ', 1, true) then
      rows[#rows + 1], rows[#rows + 2] = ARGV[i + 1], (ear or '') .. channel
      if not ear then more = more + 1 end
    end
  end
end
if #rows > 0 then
  redis.call('DEL', K.oom())
  redis.call('HSET', K.ears(), unpack(rows))
  C.ears = C.ears + more
  F.saveClock()
end
return reply
