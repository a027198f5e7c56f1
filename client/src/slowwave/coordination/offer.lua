-- offer: ask for one flush of a session. At most one message is on its way, and ticket and message are one step:
-- neither can be lost without the other.
--
--   state                          answer
--   pending, as high or higher     DUPLICATE  nothing changes
--   pending, lower                 ENQUEUE    new ticket, a message in the high queue; the older message finds
--                                             the ticket spent, or spends it first
--   running under a live lease     RERUN      marked at the higher of both priorities, no message
--   parked, the agent is full      PARKED     its place rises if the priority does, and never sinks
--   parked, the agent has room     ENQUEUE    (whoever should have offered it died) at the higher priority
--   idle                           ENQUEUE    new ticket, new message
--
-- KEYS  1 session   2 running   3 waiting   4 the high queue   5 the normal queue
-- ARGV  1 priority  2 ticket_ms  3 per_agent_concurrency  4 ticket, also the message's id
--       5 tenant  6 agent  7 session  8 the envelope, with "@ID@", "@QUEUE@", "@BODY@" and "@ARGS@" for what differs
-- Answers the word above.

local priority = ARGV[1]
local state = redis.call('GET', KEYS[1])

if state then
  local kind, held = string.match(state, '^(%a+) (%a+) ')
  if kind == 'pending' and (held == 'high' or priority == 'normal') then
    return redis.status_reply('DUPLICATE')
  end
  if kind == 'running' then
    local head, rerun, token = string.match(state, '^(%a+ %a+ )([%a-]+)( .*)$')
    if rerun == '-' or (rerun == 'normal' and priority == 'high') then
      redis.call('SET', KEYS[1], head .. priority .. token, 'KEEPTTL')
    end
    return redis.status_reply('RERUN')
  end
else
  local place = redis.call('ZSCORE', KEYS[3], ARGV[7])
  if place then
    place = tonumber(place)
    if priority_of(place) == 'high' then
      priority = 'high'
    end
    if not has_room(KEYS[2], now_ms(), ARGV[3]) then
      if priority == 'high' and place >= BEHIND then
        redis.call('ZADD', KEYS[3], whole(place - BEHIND), ARGV[7])
      end
      return redis.status_reply('PARKED')
    end
    redis.call('ZREM', KEYS[3], ARGV[7])
  end
end

local queue = priority == 'high' and KEYS[4] or KEYS[5]
local args = cjson.encode({ARGV[5], ARGV[6], ARGV[7], ARGV[4]})
local body = '[' .. args .. ', {}, {"callbacks": null, "errbacks": null, "chain": null, "chord": null}]'
local envelope = string.gsub(ARGV[8], '"@(%u+)@"', {
  ID = cjson.encode(ARGV[4]),
  QUEUE = cjson.encode(queue),
  BODY = cjson.encode(body),
  ARGS = cjson.encode(args),
})
redis.call('SET', KEYS[1], 'pending ' .. priority .. ' ' .. ARGV[4], 'PX', ARGV[2])
redis.call('LPUSH', queue, envelope)
return redis.status_reply('ENQUEUE')
