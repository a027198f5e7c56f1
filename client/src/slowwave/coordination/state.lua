-- What offer, claim, renew and release share. It takes the place of the line that names it when a script is loaded.
--
-- One key holds the state of a session, so that it can't be pending and running at once:
--
--     "pending PRIORITY TICKET"          a message is on its way; the key lives ticket_seconds
--     "running PRIORITY RERUN TOKEN"     a worker holds the lease; the key lives lease_seconds, renewed;
--                                        RERUN is the priority of the rerun asked for, or "-"
--     (no key)                           idle, or parked: then it has a place in the agent's `waiting` set
--
--                   offer, room: ticket and message, ENQUEUE
--   +------+ -----------------------------------------------> +---------+ --.  offer: DUPLICATE; if higher,
--   | idle |                                                  | pending |   |  a second message, ENQUEUE
--   +------+ <----------------------------------------------- +---------+ <-'
--     ^  ^ |            the ticket expires                      |  ^  |
--     |  | |                                                    |  |  |
--     |  | |  offer, full: PARKED     +--------+  claim, full;  |  |  |  claim, room: CLAIMED
--     |  | '------------------------> | parked | <-- higher  ---'  |  |
--     |  |                            |        |  offer, full      |  |
--     |  '--------------------------- |        | ------------------'  |
--     |    the waiting set expires    +--------+ offer, room: ENQUEUE |
--     |                                |  ^   |                       |
--     |             offer, full: may   '--'   | claim, room: CLAIMED  v
--     |             rise, PARKED              '-------------> +---------+ --.  offer: marks the rerun, RERUN
--     '------------------------------------------------------ | running |   |  claim: BUSY
--            release, or the lease expires                    +---------+ <-'  renew: the lease starts anew
--
-- "full" and "room" speak of the agent and per_agent_concurrency. For a claim its live leases count; for an offer, and
-- for naming a parked session, its live tickets of that priority as well. So an agent has no more messages in a queue
-- than it may run flushes, however many of its sessions are due, and comes behind all others again with the next one;
-- what is urgent does not wait for a message of its agent that isn't.
-- Whoever is parked waits for a ticket or a lease of its agent. A release answers which rerun was asked for and which
-- parked session has room now, and its worker offers them; if it dies first, or a message is lost, the sweep does.
-- Any message of a session claims the pending ticket, whichever message it is; and one that outlived its ticket takes
-- the session from its place, or an agent whose messages lie longer than tickets live would never get its turn.
-- `waiting`: session -> place: the µs in which it was parked, plus BEHIND if normal. The lowest comes first.
-- `running`: session -> when its lease ends, in ms. A dead worker's entry simply stops counting.
-- `queued:high`, `queued:normal`: session -> when its ticket ends, in ms. So does a lost message's.

local BEHIND = 4e15  -- added to a normal place: more than any time in µs, and the sum is still exact in a double

local moment

local function now_us()  -- a script is one moment
  if not moment then
    local time = redis.call('TIME')
    moment = time[1] * 1000000 + time[2]
  end
  return moment
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

local function live(set)
  redis.call('ZREMRANGEBYSCORE', set, '-inf', '(' .. whole(now_ms()))
  return redis.call('ZCARD', set)
end

local function has_room(running, limit, queued)  -- queued: nil where a message is here already
  return live(running) + (queued and live(queued) or 0) < tonumber(limit)
end

local function outlive(key, ms)  -- a set lives as long as the longest-lived of its members may
  if redis.call('PTTL', key) < tonumber(ms) then
    redis.call('PEXPIRE', key, ms)
  end
end
