-- Two token buckets, of a key and of its tenant: a request takes a token of both, or of neither.
-- KEYS: the buckets. ARGV: for each bucket how many tokens it gets a second (0: it has no bound) and how many it holds.
-- A bucket is stored as the time, in microseconds, at which it will be full again.
-- Returns numbers in one text, which redis-py parses faster than a list: 1 or 0, then for each bucket the tokens left,
-- the microseconds until it is full, and those until it has a token.
local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]
local allowed, answer, full = 1, {'1'}, {}
for place, bucket in ipairs(KEYS) do
    local rate, most = tonumber(ARGV[place * 2 - 1]), tonumber(ARGV[place * 2])
    local left, until_full, until_one = most, 0, 0
    if rate > 0 then
        local each = 1000000 / rate
        local room = now + most * each
        local stored = tonumber(redis.call('GET', bucket) or '0') or 0
        -- What lies further ahead than an empty bucket does was written under other limits, or by another clock.
        local after = math.min(math.max(stored, now), room) + each
        if after > room + 1 then
            allowed = 0
            left, until_full, until_one = 0, after - each - now, after - room
        else
            left, until_full = math.floor((room - after) / each + 0.000001), after - now
        end
        full[place] = after
    end
    table.insert(answer, string.format('%.0f %.0f %.0f', left, math.ceil(until_full), math.ceil(until_one)))
end
answer[1] = tostring(allowed)
if allowed == 1 then
    for place, after in pairs(full) do
        redis.call('SET', KEYS[place], string.format('%.0f', after), 'PX', math.ceil((after - now) / 1000) + 1000)
    end
end
return table.concat(answer, ' ')
