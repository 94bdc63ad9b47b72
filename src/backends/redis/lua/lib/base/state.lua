-- Names what all functions share: the tables that they are in, and what a step works on by the general rules.

local F = {}

-- Functions of one subject each.
local Cascade, Choose, Dispatch, Decide, Deps, Due, Failures, Graphs, Key = {}, {}, {}, {}, {}, {}, {}, {}, {}
local HandOver, Lease, Line, Link, Lists, Park, Rebuild, Retain, Schedule = {}, {}, {}, {}, {}, {}, {}, {}, {}
local Settle, Step, Store, Streams, Submission, Suspend, Tick = {}, {}, {}, {}, {}, {}, {}
local Fluid, Pause, Readable, Timed, Usual, Wait, Window, XCom = {}, {}, {}, {}, {}, {}, {}, {}

-- Queues that this step has loaded, and changed.
local knownQueues, touched = nil, nil
-- Fields and values that are saved with the clock; workers that this step has loaded, and changed.
local saving, knownWorkers, touchedWorkers = nil, nil, nil

-- The step goes by the general rules.
function F.beginStep()
  if hasBegun then return end
  hasBegun = true
  knownQueues, touched = {}, {}
  saving, knownWorkers, touchedWorkers = {}, {}, {}
end

-- What usual steps have saved last, as it was read: by name of the key, or of the queue in its namespace. It is taken out while a
-- step works on it, and is worth nothing when other bytes are stored.
local KEPT = { size = 0 }

-- What texts come to that many calls send, by text.
local REMEMBERED = { size = 0 }

function F.remembered(text, make)
  local known = REMEMBERED[text]
  if known then return known end
  if REMEMBERED.size >= LIMIT.keptStates then REMEMBERED = { size = 0 } end
  known = make(text)
  REMEMBERED[text], REMEMBERED.size = known, REMEMBERED.size + 1
  return known
end

-- Numbers of a call: how many there are, how many of them are special, and the sizes of the groups that have something
-- in common. Of settlements: `ids`, behind the tokens of the groups; `behind`, where the call goes on.
function F.countsOf(text)
  local numbers = {}
  for number in string.gmatch(text, '%d+') do numbers[#numbers + 1] = number + 0 end
  local n, special, groups = numbers[1], numbers[2], #numbers - 2
  return { n = n, special = special, groups = groups, sizes = { unpack(numbers, 3) }, ids = 2 + groups, behind = 3 + groups + 2 * n + 4 * special }
end

-- Takes out what was kept, if these are still the bytes.
function F.takeKept(name, packed)
  local kept = KEPT[name]
  if not kept then return end
  KEPT[name] = false
  return kept.packed == packed and kept
end

function F.keep(name, one)
  if KEPT[name] == nil then
    if KEPT.size >= LIMIT.keptStates then KEPT = { size = 0 } end
    KEPT.size = KEPT.size + 1
  end
  KEPT[name] = one
end
