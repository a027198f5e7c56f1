-- offer: ask for one flush of a session. At most one message is on its way, and ticket and message are one step:
-- neither can be lost without the other.
--
--   state                          answer
--   pending, as high or higher     DUPLICATE  nothing changes
--   running under a live lease     RERUN      marked at the higher of both priorities, no message
--   parked, the agent is full      PARKED     its place rises if the priority does, and never sinks
--   parked, the agent has room     ENQUEUE    a release named it, or its worker died; at the higher priority
--   else, the agent is full        PARKED     a place in `waiting`; the older message of a pending one finds it there
--   pending, lower                 ENQUEUE    new ticket, a message in the high queue; the older message finds
--                                             the ticket spent, or spends it first
--   idle                           ENQUEUE    new ticket, new message
--
-- KEYS  1 session   2 running   3 waiting   4 queued:high   5 queued:normal
-- ARGV  1 priority
--       2 what a duplicate has no use for, a line each: the offering client's own mark; ticket_ms;
--         waiting_ms; per_agent_concurrency; tenant; agent; session. One argument, since a client spends more on packing
--         each than the server on its whole answer.
--       3 absent, or the traceparent that a message carries to the worker (W3C's form, else none is carried)
-- ENVELOPE and BODY are put in when the script is loaded, for the same reason: the message as JSON, and its body, with
-- "@ID@", "@QUEUE@", "@BODY@" and "@ARGS@" for what differs. So are the names of both queues, which never differ.
-- Answers the word above.

local priority = ARGV[1]
local state = redis.call('GET', KEYS[1])

-- The commonest answer comes before anything is set up for the others.
if state and string.sub(state, 1, 8) == 'pending ' then
  if priority == 'normal' or string.sub(state, 9, 12) == 'high' then
    return redis.status_reply('DUPLICATE')
  end
end

-- include state.lua
-- include ENVELOPE and BODY and HIGH_QUEUE and NORMAL_QUEUE

if state and string.sub(state, 1, 8) == 'running ' then
  local head, rerun, token = string.match(state, '^(%a+ %a+ )([%a-]+)( .*)$')
  if rerun == '-' or (rerun == 'normal' and priority == 'high') then
    redis.call('SET', KEYS[1], head .. priority .. token, 'KEEPTTL')
  end
  return redis.status_reply('RERUN')
end

local LINES = '^(%x+)\n(%d+)\n(%d+)\n(%d+)\n([^\n]+)\n([^\n]+)\n(.+)$'
local mark, ticket_ms, waiting_ms, limit, tenant, agent, session = string.match(ARGV[2], LINES)

local place = not state and tonumber(redis.call('ZSCORE', KEYS[3], session))
if place and priority_of(place) == 'high' then
  priority = 'high'
end
local queued = priority == 'high' and KEYS[4] or KEYS[5]
-- It has no ticket of this priority: an entry that is left of one (the key was deleted by hand) must not park it.
redis.call('ZREM', queued, session)
if not has_room(KEYS[2], limit, queued) then
  if not place then
    redis.call('PEXPIRE', KEYS[1], 0)  -- a producer's user may not delete
    redis.call('ZREM', KEYS[5], session)
    redis.call('ZADD', KEYS[3], whole(now_us() + (priority == 'high' and 0 or BEHIND)), session)
  elseif priority == 'high' and place >= BEHIND then
    redis.call('ZADD', KEYS[3], whole(place - BEHIND), session)
  end
  outlive(KEYS[3], waiting_ms)
  return redis.status_reply('PARKED')
end
if place then
  redis.call('ZREM', KEYS[3], session)
elseif state then
  redis.call('ZREM', KEYS[5], session)
end

-- Also the message's id. The server runs one script at a time, so the microsecond tells apart what one client offers.
local ticket = mark .. '-' .. whole(now_us())

local queue = priority == 'high' and HIGH_QUEUE or NORMAL_QUEUE
local args = cjson.encode({tenant, agent, session, ticket})
local GAP = '"@(%u+)@"'
local body = string.gsub(BODY, GAP, {ARGS = args})
local shape = ENVELOPE
if ARGV[3] and string.match(ARGV[3], '^00%-%x+%-%x+%-%x%x$') then
  shape = string.gsub(shape, '"headers": {', '%0"traceparent": "' .. ARGV[3] .. '", ', 1)
end
local message = string.gsub(shape, GAP, {
  ID = cjson.encode(ticket),
  QUEUE = cjson.encode(queue),
  BODY = cjson.encode(body),
  ARGS = cjson.encode(args),
})
redis.call('LPUSH', queue, message)  -- first: where the queue is of a wrong type, no ticket is left behind
local ends = whole(now_ms() + ticket_ms)  -- one moment for key and entry: neither may outlive the other
redis.call('SET', KEYS[1], 'pending ' .. priority .. ' ' .. ticket, 'PXAT', ends)
redis.call('ZADD', queued, ends, session)
outlive(queued, ticket_ms)
return redis.status_reply('ENQUEUE')
