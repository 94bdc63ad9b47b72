-- Changes named values of users on behalf of no task.
--
-- KEYS[1]  clock   hash
-- ARGV[1]  pushes  how many rows push a value
-- ARGV[2]  rows    JSON, as lib/records/xcom.lua has them
-- Returns  {'ok'}
-- Cost     O(rows × log values)

F.readAll()
local pushes, rows = tonumber(ARGV[1]), cjson.decode(ARGV[2])
-- New values are refused when memory is out, before anything is written; taking away is not.
if pushes > 0 then
  redis.call('SET', K.oom(), '')
end
redis.call('DEL', K.oom())
XCom.write('', rows)
F.writeStep()
F.closeStep()
return { 'ok' }
