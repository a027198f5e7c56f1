-- oldest: the id of each queue's oldest message, '' where it is empty or names none. The message itself, which may hold
-- words of conversations, never leaves the server.
--
-- In a body quotes stand escaped, so the pattern finds the id among the headers and nothing else.
--
-- KEYS  the queues

local ids = {}
for place, queue in ipairs(KEYS) do
  local message = redis.call('LINDEX', queue, -1)
  ids[place] = message and string.match(message, '"id": ?"([^"\\]+)"') or ''
end
return ids
