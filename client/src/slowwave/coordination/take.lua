-- take: the flush that a worker would get next from the normal queue, for one that has just ended another.
--
-- Taken is only what an offer has written, or what looks just like it: a flush with a ticket, by position. All else stays
-- where it is, for a worker to receive as any message: nothing waits, something urgent does, the next one is another
-- task, comes from elsewhere, or can't be read.
--
-- KEYS  1 the high queue   2 the normal queue
-- ARGV  1 the name of the task
-- Answers {the message, tenant, agent, session, its traceparent or ''}, or nothing.

local MOST = 8192  -- characters; an offer's message has some 800, and names up to a few hundred

if redis.call('LLEN', KEYS[1]) > 0 then
  return false
end
local message = redis.call('LINDEX', KEYS[2], -1)
if not message or #message > MOST or not string.find(message, ARGV[1], 1, true) then
  return false
end

local function plain(value)  -- JSON's null, or nothing at all
  return value == nil or value == cjson.null
end

local read, args, trace = pcall(function()
  local envelope = cjson.decode(message)
  local headers = envelope.headers
  if headers.task ~= ARGV[1] or envelope['content-type'] ~= 'application/json' then
    return nil
  end
  if not (plain(headers.expires) and plain(headers.compression) and plain(envelope.properties.body_encoding)) then
    return nil
  end
  local body = cjson.decode(envelope.body)
  if #body[1] ~= 4 or next(body[2]) ~= nil then
    return nil
  end
  return body[1], headers.traceparent
end)
if not read or not args then
  return false
end
for place = 1, 4 do
  if type(args[place]) ~= 'string' then
    return false
  end
end
redis.call('RPOP', KEYS[2])
return {message, args[1], args[2], args[3], type(trace) == 'string' and trace or ''}
