-- Stores a snapshot of a graph, unless it is there, and moves its end on.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  hash     of its content
-- ARGV[2]  body     its bytes
-- Returns  {'saved'} or {'known'}
-- Cost     O(1)
-- @include lib/state.lua
-- @include lib/base.lua

local hash, body = ARGV[1], ARGV[2]
local isKnown = Graphs.isAlive(hash)
if not isKnown then redis.call('SET', K.graph(hash), body) end
Graphs.touch(hash)
return F.unchanged({ isKnown and 'known' or 'saved' })
