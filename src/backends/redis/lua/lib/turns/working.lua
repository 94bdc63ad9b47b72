-- What a step works on, unless all that it does is done many at once.

local STATES = TABLE.states
local CODES = TABLE.codes

-- Sorted sets to be written: key -> member -> score, false to take it out; the same by name for
-- the indexes of the whole namespace; those of them that may have lost their head.
local Z, I, moved = {}, {}, {}
-- What this step has loaded and changed.
local tasks, changed, keyring = {}, {}, {}
-- Channels to be told, what came of attempts of workers, and whose dependents are to be told.
local published, outcomes, pendingEnds, leasedUntil = {}, {}, {}, {}
local leasesOver, endings = {}, {}
