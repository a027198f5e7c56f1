-- What offer, claim, renew and release share. It is put before each of them when the script is loaded.
--
-- One key holds the state of a session, so that it can't be pending and running at once:
--
--     "pending PRIORITY TICKET"          a message is on its way; the key lives ticket_seconds
--     "running PRIORITY RERUN TOKEN"     a worker holds the lease; the key lives lease_seconds, renewed;
--                                        RERUN is the priority of the rerun asked for, or "-"
--     (no key)                           idle, or parked: then it has a place in the agent's `waiting` set
--
--                offer: ticket and message
--          .------------------------------------------.
--          |                                          v        offer, not higher: DUPLICATE
--      +--------+      ticket expires             +---------+  offer, higher: a second message, ENQUEUE
--      |  idle  | <------------------------------ | pending | --.
--      +--------+                                 +---------+ <-'
--        ^    ^                                     |  ^    |
--        |    |                     claim, agent at |  |    | claim, agent has room: CLAIMED
--        |    |                    its limit: PARKED|  |    v
--        |    |   the waiting set expires           v  |  +---------+
--        |    '---------------------------------- +--------+ running | --. offer: marks the rerun, RERUN
--        |                                        | parked | |       | <-' renew: the lease starts anew
--        |        offer, agent at its limit: .--- +--------+ +-------+     claim: BUSY
--        |        raises its place, PARKED    '-->  |  ^         |
--        |                                          '--' offer,  |
--        |                             agent has room: ENQUEUE   |
--        '-------------------------------------------------------'
--            release (says which rerun and which parked session to offer now), or the lease expires
--
-- Any message of a session claims the pending ticket, whichever message it is; a claim without a ticket is STALE.
-- `waiting`: session -> place. High ones come first, each in the order of the time they were parked.
-- `running`: session -> when its lease ends, in ms. A dead worker's entry simply stops counting.

local BEHIND = 1e15  -- added to a normal place: more than any time in ms, and still exact in a double

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function whole(number)  -- Lua's own tostring would round to 14 digits
  return string.format('%.0f', number)
end

local function priority_of(place)
  return place >= BEHIND and 'normal' or 'high'
end

local function has_room(running, now, limit)
  redis.call('ZREMRANGEBYSCORE', running, '-inf', '(' .. whole(now))
  return redis.call('ZCARD', running) < tonumber(limit)
end

local function outlive(key, ms)  -- a set lives as long as the longest-lived of its members may
  if redis.call('PTTL', key) < tonumber(ms) then
    redis.call('PEXPIRE', key, ms)
  end
end
