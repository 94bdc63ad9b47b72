-- Tells of one question, open or closed.
--
-- KEYS[1]  clock  hash
-- ARGV[1]  id     the task that asks
-- ARGV[2]  mark   of the question
-- Returns  what lib/steps/wait.lua tells of it; nothing when there is none
-- Cost     O(1)

F.readAll()
local reply = {}
Wait.row(reply, ARGV[1], ARGV[2])
return reply
