-- Tells what should have happened: how long the schedule that is due longest has been due, in ms, and
-- how many ids tasks wait for that are not stored.
--
-- KEYS[1]  clock  hash
-- Returns  {ms, ids}
-- Cost     O(1)

F.readAll()
local missing = H.missing < INF and redis.call('ZCARD', K.index('missing')) or 0
return { math.max(0, now - H['schedules:due']), missing }
