-- fail_breaker: a call of an endpoint failed. `enter_breaker.lua` draws the states.
--
--   state        this call             becomes
--   closed       whichever             one failure more; open, where that makes `limit`
--   half-open    the one that tries    open again
--   otherwise    began before          as it was: what it saw is known
--
-- KEYS  1 breaker
-- ARGV  1 token  2 limit  3 open_ms  4 why  5 kept_ms
-- Answers 1 where this opened it, else 0.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local state = redis.call('HMGET', KEYS[1], 'until', 'trial')
local opens
if state[1] then
  opens = state[2] == ARGV[1]
else
  opens = redis.call('HINCRBY', KEYS[1], 'failures', 1) >= tonumber(ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
end
if not opens then
  return 0
end
redis.call('HSET', KEYS[1], 'until', string.format('%.0f', now + ARGV[3]), 'why', ARGV[4])
redis.call('HDEL', KEYS[1], 'failures', 'trial', 'trial_until')
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', ARGV[3] + ARGV[5]))
return 1
