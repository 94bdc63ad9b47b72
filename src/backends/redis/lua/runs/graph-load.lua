-- Gives a snapshot of a graph, and moves its end on; or tells why it is not there.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  hash     of its content
-- Returns  {'found', its bytes}, {'long'} for one that is to be read without a script, {'unknown'}, {'expired'}
--          or {'evicted'}
-- Cost     O(1)

F.readAll()
local hash = ARGV[1]
if Graphs.isAlive(hash) then
  -- Who may only look gets it too: a replica, an account that may write nothing, and where memory is full.
  redis.pcall('DEL', K.oom())
  Graphs.touch(hash, redis.pcall)
  if redis.call('STRLEN', K.graph(hash)) > LIMIT.graphScriptBytes then return F.unchanged({ 'long' }) end
  return F.unchanged({ 'found', redis.call('GET', K.graph(hash)) })
end
local till = tonumber(redis.call('HGET', K.graphMeta(hash), FIELD.graphMeta.till))
if not till then return F.unchanged({ 'unknown' }) end
return F.unchanged({ till > 0 and till <= now and 'expired' or 'evicted' })
