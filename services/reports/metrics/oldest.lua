-- oldest: the id of a queue's oldest message, '' where it is empty or names none. The message itself, which may hold
-- words of conversations, never leaves the server.
--
-- In a body quotes stand escaped, so the pattern finds the id among the headers and nothing else.
--
-- KEYS  the queue

local message = redis.call('LINDEX', KEYS[1], -1)
return message and string.match(message, '"id": ?"([^"\\]+)"') or ''
