/**
 * Turns between processes. Each hands its own freed places to its own callers, so that one which has none would never get
 * any; so a process that has gone without clearly longer than another goes first. Needs `ask`, `now` and `sourceKey`.
 */
export const turnsLua = `
local clearlyLongerMs = 2000
-- Who has not asked for so long waits no more, or has died.
local forgottenMs = 2000
local waiting = 'waiting:' .. ask.holder

-- Since when this process has gone without, and how many others have clearly longer.
local function turns()
  local sinceMs, others = now, {}
  local fields = redis.call('HGETALL', sourceKey)
  for i = 1, #fields, 2 do
    local since, seen = string.match(fields[i + 1], '^(%d+):(%d+)$')
    if string.sub(fields[i], 1, 8) == 'waiting:' and since then
      if math.abs(now - seen) > forgottenMs then redis.call('HDEL', sourceKey, fields[i])
      elseif fields[i] == waiting then sinceMs = tonumber(since)
      else others[#others + 1] = tonumber(since) end
    end
  end
  local longer = 0
  for _, since in ipairs(others) do
    if since + clearlyLongerMs < sinceMs then longer = longer + 1 end
  end
  return sinceMs, longer
end

local function waitsSince(sinceMs)
  redis.call('HSET', sourceKey, waiting, string.format('%d:%d', sinceMs, now))
  keepSource()
end

local function waitsNoMore()
  redis.call('HDEL', sourceKey, waiting)
end
`;
