-- Stores tasks: all or none, or each on its own.
--
-- KEYS[1]  clock    hash
-- ARGV[1]  atomic   '1': a refusal of one leaves nothing; '0' and, behind it, the token and the id of
--                   a lease that must be in force, parted by NUL
-- ARGV[2..]  items  as in lib/steps/store-many.lua
-- Returns  'created' and how many, when all were; else for each item 'c' when it was, else the reply as JSON
-- Cost     O(items × log tasks)

local atomic, stored, counts = ARGV[1], nil, F.remembered(ARGV[2], F.countsOf)
F.beginUsual(ARGV[4] or '')
if not whole and #atomic == 1 then
  stored = Usual.store(counts)
  if stored then return { 'created', stored } end
  F.beginStep()
  stored = Store.many(counts)
end
if not stored then
  F.readAll()
  return Store.run()
end
F.writeStep()
F.closeStep()
return { 'created', stored }
