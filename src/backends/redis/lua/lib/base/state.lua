-- Names what all functions share. The library has all of them, made once; a short script those that its verb names, unless
-- they are marked @rare. What stands at the top of a file and is no constant is set at each call.
-- @include constants

local F = {}

-- Functions of one subject each; the bundler makes one table of all of them.
local Cascade, Choose, Dispatch, Decide, Deps, Due, Failures, Graphs, Key = {}, {}, {}, {}, {}, {}, {}, {}, {} -- subjects
local Hand, Lease, Line, Link, Lists, Park, Rebuild, Retain, Schedule = {}, {}, {}, {}, {}, {}, {}, {}, {} -- subjects
local Settle, Step, Store, Streams, Submission, Suspend, Tag, Tick = {}, {}, {}, {}, {}, {}, {}, {} -- subjects
local Fluid, Pause, Timed, Wait, Window, XCom = {}, {}, {}, {}, {}, {} -- subjects

-- Queues that this step has loaded, and changed.
local knownQueues, touched = {}, {}

-- @include lib/time.lua
-- @include lib/working.lua
