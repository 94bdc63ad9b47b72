-- Names what all functions of a script share. The bundler puts the functions themselves into two:
-- what every run needs, and what only some runs do (marked @rare), made when first called.
-- @include constants

local F = {}

-- Functions of one subject each; the bundler makes one table of all of them.
local Cascade, Choose, Deal, Decide, Deps, Due, Graphs, Key = {}, {}, {}, {}, {}, {}, {}, {} -- subjects
local Lease, Line, Link, Lists, Retain, Schedule, Settle, Step = {}, {}, {}, {}, {}, {}, {}, {} -- subjects
local Store, Submission, Suspend, Tag, Tick, Timed, Window, XCom = {}, {}, {}, {}, {}, {}, {}, {} -- subjects

-- Sorted sets to be written: key -> member -> score, false to take it out; the same by name for
-- the indexes of the whole namespace; those of them that may have lost their head; heads at hand.
local Z, I, moved, views = {}, {}, {}, {}

local STATES = { 'scheduled', 'deferred', 'queued', 'started', 'finished', 'failed', 'canceled' }
local CODES = { scheduled = 1, deferred = 2, queued = 3, started = 4, finished = 5, failed = 6,
  canceled = 7 }

-- What this step has loaded and changed.
local lanes, touched, tasks, texts, changed, keyring = {}, {}, {}, {}, {}, {}
-- Channels to be told, what changed at workers and what their attempts came to, and whose dependents
-- are to be told.
local published, runningChange, outcomes, standing, leasedUntil = {}, {}, {}, {}, {}
local leasesOver, endings = {}, {}

-- @include lib/time.lua
