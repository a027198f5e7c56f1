-- What offer, claim, renew and release share. It takes the place of the line that names it when a script is loaded.
--
-- One key holds the state of a session, so that it can't be pending and running at once:
--
--     "pending PRIORITY TICKET"          a message is on its way; the key lives ticket_seconds
--     "running PRIORITY RERUN TOKEN"     a worker holds the lease; the key lives lease_seconds, renewed;
--                                        RERUN is the priority of the rerun asked for, or "-"
--     (no key)                           idle, or parked: then it has a place in the agent's `waiting` set
--
--                   offer: ticket and message, ENQUEUE
--   +------+ -----------------------------------------------> +---------+ --.  offer: DUPLICATE; if higher,
--   | idle |                                                  | pending |   |  a second message, ENQUEUE
--   +------+ <----------------------------------------------- +---------+ <-'
--     ^  ^             the ticket expires                       |  ^  |
--     |  |                                                      |  |  |
--     |  |  the waiting set expires   +--------+  claim, full:  |  |  |  claim, room: CLAIMED
--     |  '--------------------------- | parked | <-- PARKED ----'  |  |
--     |                               +--------+ ------------------'  |
--     |                                 |    ^   offer, room: ENQUEUE |
--     |                                 '----'                        |
--     |                    offer, full: may rise, PARKED              v
--     |                                                       +---------+ --.  offer: marks the rerun, RERUN
--     '------------------------------------------------------ | running |   |  claim: BUSY
--            release, or the lease expires                    +---------+ <-'  renew: the lease starts anew
--
-- "full" and "room" speak of the agent: of its live leases and per_agent_concurrency. A release answers which rerun
-- was asked for and which parked session has room now, and its worker offers them; if it dies first, the sweep does.
-- Any message of a session claims the pending ticket, whichever message it is; a claim without a ticket is STALE.
-- `waiting`: session -> place: the µs in which it was parked, plus BEHIND if normal. The lowest comes first.
-- `running`: session -> when its lease ends, in ms. A dead worker's entry simply stops counting.

local BEHIND = 4e15  -- added to a normal place: more than any time in µs, and the sum is still exact in a double

local function now_us()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

local function now_ms()
  return math.floor(now_us() / 1000)
end

local function whole(number)  -- Lua's own tostring would round to 14 digits
  return string.format('%.0f', number)
end

local function priority_of(place)
  return place >= BEHIND and 'normal' or 'high'
end

local function has_room(running, limit)
  redis.call('ZREMRANGEBYSCORE', running, '-inf', '(' .. whole(now_ms()))
  return redis.call('ZCARD', running) < tonumber(limit)
end

local function outlive(key, ms)  -- a set lives as long as the longest-lived of its members may
  if redis.call('PTTL', key) < tonumber(ms) then
    redis.call('PEXPIRE', key, ms)
  end
end
