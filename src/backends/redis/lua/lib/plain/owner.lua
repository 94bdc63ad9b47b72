-- The run of a task that has no other rare facts than that, by these, packed; false when it has.

local function plainOwner(packed)
  local x = cmsgpack.unpack(packed)
  local run = x.o
  x.o = nil
  return next(x) == nil and run
end
