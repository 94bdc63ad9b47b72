-- Names what all functions of a script share. A short script has those that its verb names, unless they are
-- marked @rare; the script that knows all verbs makes those of a file when one of them is called.
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
