-- claim: a message has come to a worker; may it run?
--
--   state                          answer
--   idle                           STALE      another message was faster, or the ticket expired
--   running under this token       CLAIMED    the caller asks twice: its first answer was lost on the way
--   running under another token    BUSY       nothing changes: what came since has marked the rerun already
--   pending, the agent is full     PARKED     the ticket becomes a place in `waiting`
--   pending, the agent has room    CLAIMED    the ticket becomes the lease
--   parked, the agent is full      PARKED     it keeps its place
--   parked, the agent has room     CLAIMED    its message outlived its ticket: the place becomes the lease
--
-- KEYS  1 session   2 running   3 waiting   4 queued:high   5 queued:normal
-- ARGV  1 token  2 lease_ms  3 per_agent_concurrency  4 waiting_ms  5 session
-- Answers {the word above, the priority it was pending or parked at or ''}.

-- include state.lua

local state = redis.call('GET', KEYS[1])
local place = not state and redis.call('ZSCORE', KEYS[3], ARGV[5])
if place then
  state = 'parked ' .. priority_of(tonumber(place)) .. ' '
end
if not state then
  return {'STALE', ''}
end

local kind, priority = string.match(state, '^(%a+) (%a+) ')
if kind == 'running' then
  if string.match(state, '^%a+ %a+ [%a-]+ (.*)$') == ARGV[1] then
    return {'CLAIMED', priority}
  end
  return {'BUSY', ''}
end

-- No lease of this session is live, so an entry that is left of one (the key was deleted by hand) must not park it.
redis.call('ZREM', KEYS[2], ARGV[5])
redis.call('ZREM', priority == 'high' and KEYS[4] or KEYS[5], ARGV[5])
if not has_room(KEYS[2], ARGV[3]) then
  if place then
    return {'PARKED', priority}
  end
  redis.call('DEL', KEYS[1])
  redis.call('ZADD', KEYS[3], whole(now_us() + (priority == 'high' and 0 or BEHIND)), ARGV[5])
  outlive(KEYS[3], ARGV[4])
  return {'PARKED', priority}
end

if place then
  redis.call('ZREM', KEYS[3], ARGV[5])
end
local ends = whole(now_ms() + ARGV[2])  -- one moment for key and entry: neither may outlive the other
redis.call('SET', KEYS[1], 'running ' .. priority .. ' - ' .. ARGV[1], 'PXAT', ends)
redis.call('ZADD', KEYS[2], ends, ARGV[5])
outlive(KEYS[2], ARGV[2])
return {'CLAIMED', priority}
