-- take_and_claim: take the next flush out of the normal queue and try to turn its ticket into a lease, in one step.
--
-- Names of keys are built here as keys.py builds them, since only the message says which session it is. A message whose
-- names are none has no ticket: its claim is STALE, and the caller puts it back.
--
-- KEYS  1 the high queue   2 the normal queue
-- ARGV  1 the name of the task  2 token  3 lease_ms  4 per_agent_concurrency  5 waiting_ms  6 the prefix of keys
-- Answers {the message, tenant, agent, session, its traceparent or '', and the two answers of claim}, or nothing.

-- include take.lua as take
-- include claim.lua as claim

local function quoted(name)  -- as urllib.parse.quote with safe=''
  return (string.gsub(name, '[^A-Za-z0-9_.~-]', function(byte)
    return string.format('%%%02X', string.byte(byte))
  end))
end

local taken = take(KEYS, ARGV)
if not taken then
  return false
end
local agent = ARGV[6] .. '{' .. quoted(taken[2]) .. '/' .. quoted(taken[3]) .. '}:'
local keys = {
  agent .. 'session:' .. taken[4],
  agent .. 'running',
  agent .. 'waiting',
  agent .. 'queued:high',
  agent .. 'queued:normal',
}
local claimed = claim(keys, {ARGV[2], ARGV[3], ARGV[4], ARGV[5], taken[4]})
return {taken[1], taken[2], taken[3], taken[4], taken[5], claimed[1], claimed[2]}
