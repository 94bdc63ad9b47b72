-- Tells edges of the graph of waiting tasks, from one task on in one direction, breadth first.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  side    'upstreams': whom tasks wait for; 'dependents': who waits for them
-- ARGV[2]  id      the task
-- Returns  for each task that was come to its id, how many edges it has, and where they lead; -1 and
--          nothing for one that too many wait for
-- Cost     O(500 edges)

F.readAll()
local side, id = ARGV[1], ARGV[2]
local edgesOf = side == 'upstreams' and Link.upstreamsOf or Link.dependentsOf
local open, known, reply, edges, at = { id }, { [id] = true }, {}, 0, 1
while open[at] and edges < LIMIT.cycleStep do
  local ids = edgesOf(open[at], {})
  reply[#reply + 1] = open[at]
  reply[#reply + 1] = ids and #ids or -1
  for _, other in ipairs(ids or NONE) do
    reply[#reply + 1] = other
    if not known[other] then
      known[other] = true
      open[#open + 1] = other
    end
  end
  edges, at = edges + 1 + (ids and #ids or 0), at + 1
end
return reply
