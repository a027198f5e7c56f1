-- enter_breaker: a caller asks whether it may call an endpoint.
--
--                  `limit` failures in a row                its time is over
--       closed ─────────────────────────────▶ open ──────────────────────────▶ half-open
--         ▲                                     ▲                                  │ one call tries
--         │                                     └──────────── it failed ───────────┤
--         └──────────────── an answer came, from whichever call (DEL) ─────────────┘
--                                                 (its worker died: after trial_ms the next one tries)
--
--   state                               answer
--   closed                              {'CLOSED', 0, ''}
--   open                                {'OPEN', ms left, why}
--   half-open, another one is trying    {'OPEN', ms that it may take, why}
--   half-open, nobody is                {'TRIAL', 0, why}      the caller is the one
--
-- KEYS  1 breaker (hash: failures while closed; until, why, and trial, trial_until while it is not)
-- ARGV  1 token  2 trial_ms  3 kept_ms

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local state = redis.call('HMGET', KEYS[1], 'until', 'why', 'trial_until')
if not state[1] then
  return {'CLOSED', 0, ''}
end
if now < tonumber(state[1]) then
  return {'OPEN', state[1] - now, state[2]}
end
if state[3] and now < tonumber(state[3]) then
  return {'OPEN', state[3] - now, state[2]}
end
redis.call('HSET', KEYS[1], 'trial', ARGV[1], 'trial_until', string.format('%.0f', now + ARGV[2]))
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', ARGV[2] + ARGV[3]))
return {'TRIAL', 0, state[2]}
