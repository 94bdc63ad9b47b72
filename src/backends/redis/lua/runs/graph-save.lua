-- Stores a snapshot of a graph, unless it is there, and moves its end on.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  hash     of its content
-- ARGV[2]  body     its bytes; '': they are long, and stand in graph-new, or will
-- Returns  {'saved'}, {'known'}, or {'wanted'} when graph-new is not there
-- Cost     O(1)

F.readAll()
local hash, body = ARGV[1], ARGV[2]
local isKnown = Graphs.isAlive(hash)
if not isKnown and body == '' then
  if redis.call('EXISTS', K.graphNew(hash)) == 0 then return F.unchanged({ 'wanted' }) end
  redis.call('RENAME', K.graphNew(hash), K.graph(hash))
  redis.call('PERSIST', K.graph(hash))
elseif not isKnown then
  redis.call('SET', K.graph(hash), body)
end
Graphs.touch(hash, redis.call)
return F.unchanged({ isKnown and 'known' or 'saved' })
