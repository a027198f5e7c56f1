-- renew: the heartbeat of a long flush.
--
--   state                          answer
--   running under this token       1   the lease starts anew
--   anything else                  0   the lease is lost: it expired, and another worker may hold it by now.
--                                      It is not taken back, since an offer made meanwhile has its own message.
--
-- KEYS  1 session   2 running
-- ARGV  1 token  2 lease_ms  3 session
-- Answers 1 or 0.

-- include state.lua

local state = redis.call('GET', KEYS[1])
if not state or string.match(state, '^running %a+ [%a-]+ (.*)$') ~= ARGV[1] then
  return 0
end
local ends = whole(now_ms() + ARGV[2])
redis.call('PEXPIREAT', KEYS[1], ends)
redis.call('ZADD', KEYS[2], ends, ARGV[3])
outlive(KEYS[2], ARGV[2])
return 1
