-- Adds to a stream of a leased task, and tells who waits for it.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  worker   that has the lease
-- ARGV[2]  id       of the task
-- ARGV[3]  token    of the lease
-- ARGV[4]  name     of the stream
-- ARGV[5]  node     that writes; '' for the task itself
-- ARGV[6]  call     of its handler
-- ARGV[7]  attempt  which one that is
-- ARGV[8]  ordinal  how many chunks the call had written before
-- ARGV[9]  count    of chunks; 0 for none
-- ARGV[10]  text    of them
-- ARGV[11]  closes  '1': nothing comes after them
-- ARGV[12]  chunks  that are kept of the stream, and of its other entries
-- ARGV[13]  bytes   the same
-- Returns  {'ok'}, {'lost'}, {'closed'} or {'full'}
-- Cost     O(bytes + blocks that go)

local worker, id, token, name = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local call, count, closes = ARGV[6], tonumber(ARGV[9]), ARGV[11] == '1'
local states, key = K.streams(id), K.stream(id, name)
local field, writer = FIELD.streams.state .. name, FIELD.streams.writer .. name .. ':' .. ARGV[5]
local lease = redis.call('HGET', K.hot(worker), id)
local known = redis.call('HMGET', states, field, writer)
local state, mine = known[1], known[2]
if not state or not lease or string.sub(lease, -#token - 1) ~= '\0' .. token then
  F.readAll()
  local t = F.taskOf(id, worker)
  if not t or not F.isAttendedBy(t, token) then return F.unchanged({ 'lost' }) end
  if not state then
    local streams = tonumber(redis.call('HGET', states, FIELD.streams.count) or '0') + 1 - redis.call('EXISTS', key)
    if streams > LIMIT.streams then return F.unchanged({ 'full' }) end
    -- The step that takes the task away knows by this that there are streams.
    F.optionalOf(t).streamed = true
    F.writeStep()
    F.closeStep()
    state = Streams.found(key)
    redis.call('HSET', states, FIELD.streams.count, streams)
  end
end
local next_, first, bytes, closed = string.match(state, '^(%d+) (%d+) (%d+) ([01])$')
next_, first, bytes = tonumber(next_), tonumber(first), tonumber(bytes)
local last, written = string.match(mine or '', '^(%S+) (%d+)$')
local isMine = last == call
written = isMine and tonumber(written) or 0
-- It has been here before, and the answer was lost.
if written > tonumber(ARGV[8]) or (isMine and count == 0 and closed == '1') then return { 'ok' } end
if closed == '1' and (isMine or not mine) then return { 'closed' } end
local whose = ' ' .. ARGV[7] .. ' ' .. ARGV[5]
local function add(kind, offsets, text)
  local head = kind .. ' ' .. offsets .. whose
  next_, bytes = next_ + offsets, bytes + #head + #text
  redis.call('XADD', key, next_ .. '-0', FIELD.stream.head, head, FIELD.stream.text, text)
end
if mine and not isMine then add('reset', 1, '') end
if count > 0 then add('chunks', count, ARGV[10]) end
if closes then add('end', 1, '') end
local kept, mostChunks, mostBytes = first, tonumber(ARGV[12]), tonumber(ARGV[13])
while next_ - kept > mostChunks or bytes > mostBytes do
  local oldest = redis.call('XRANGE', key, '(' .. kept .. '-0', '+', 'COUNT', 1)[1]
  local till = oldest and tonumber(string.match(oldest[1], '^%d+')) or next_
  if till == next_ then break end
  kept, bytes = till, bytes - #oldest[2][2] - #oldest[2][4]
end
if kept > first then redis.call('XTRIM', key, 'MINID', kept + 1 .. '-0') end
redis.call('HSET', states, field, next_ .. ' ' .. kept .. ' ' .. bytes .. ' ' .. (closes and '1' or '0'), writer,
  call .. ' ' .. written + count)
redis.call('PUBLISH', K.streamNotices(id, name), next_)
return { 'ok' }
