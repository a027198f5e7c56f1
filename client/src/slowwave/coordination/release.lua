-- release: a flush has ended, well or badly. The releasing worker then offers what this answers.
--
--   state                          answer
--   running under this token       1, the rerun that was asked for   the lease is gone
--   anything else                  0, no rerun                       nothing changes: the lease was lost before
--
-- Either way it names the first parked session if the agent has room now. It leaves it parked: the offer unparks it,
-- so a worker that dies between the two loses nothing, and two workers that are told the same name push one message.
--
-- KEYS  1 session   2 running   3 waiting   4 queued:high   5 queued:normal
-- ARGV  1 token  2 per_agent_concurrency  3 session
-- Answers {1 or 0, rerun priority or '', next parked session or '', its priority or '',
-- how many are parked behind it}.

-- include state.lua

local ours, rerun = 0, ''
local state = redis.call('GET', KEYS[1])
if state then
  local mark, token = string.match(state, '^running %a+ ([%a-]+) (.*)$')
  if token == ARGV[1] then
    ours = 1
    rerun = mark == '-' and '' or mark
    redis.call('DEL', KEYS[1])
    redis.call('ZREM', KEYS[2], ARGV[3])
  end
end

local first = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')
if not first[1] then
  return {ours, rerun, '', '', 0}
end
local priority = priority_of(tonumber(first[2]))
if not has_room(KEYS[2], ARGV[2], priority == 'high' and KEYS[4] or KEYS[5]) then
  return {ours, rerun, '', '', 0}
end
return {ours, rerun, first[1], priority, redis.call('ZCARD', KEYS[3]) - 1}
