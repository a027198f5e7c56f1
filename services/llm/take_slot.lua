-- take_slot: a caller wants one of the places that all workers share.
--
--   free ──take──▶ taken until its lease ends ──┬── given back (ZREM) ──▶ free
--                                               └── its worker died: the lease ends ──▶ free
--
--   places taken     answer
--   this one's too   {1, 0}     asked twice: the first answer was lost on the way; the lease begins anew
--   < limit          {1, 0}     and one more is taken
--   >= limit         {0, ms}    ms until the first lease would end
--
-- KEYS  1 slots (zset: token -> end of its lease in ms)
-- ARGV  1 token  2 limit  3 lease_ms

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local mine = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not mine and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
  local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  return {0, first[2] - now}
end

redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
-- Leases may be of different lengths, and the set lives as long as the longest.
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', last[2] - now))
return {1, 0}
