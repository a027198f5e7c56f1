-- release_and_take: end a flush, then take and claim the next one, in one step.
--
-- One script keeps the order. Of two in a pipeline, a server that does not know the first still runs the second, whose
-- claim counts the lease that should have ended before it.
--
-- KEYS  1 to 5 of release, 1 and 2 of take_and_claim
-- ARGV  1 to 3 of release, 1 to 6 of take_and_claim
-- Answers {what release answers, what take_and_claim answers, or nothing if that failed: the release stands}.

-- include release.lua as release
-- include take_and_claim.lua as take_and_claim

local released = release(KEYS, ARGV)
local worked, taken = pcall(
  take_and_claim,
  {KEYS[6], KEYS[7]},
  {ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]}
)
return {released, worked and taken}
