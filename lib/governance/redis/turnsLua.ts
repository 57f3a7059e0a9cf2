/**
 * Turns between processes. Each hands its own freed places to its own callers, so that one which has none would never get
 * any; so a process that has gone without clearly longer than another goes first. Needs `ask`, `now`, `keep`, `waitingKey`
 * (processes by the time since when they have gone without) and `seenKey` (by when they last asked).
 */
export const turnsLua = `
local clearlyLongerMs = 2000
local sinceMs = now - (ask.withoutMs or 0)

local function waitsNoMore(holder)
  redis.call('ZREM', waitingKey, holder)
  redis.call('ZREM', seenKey, holder)
end

-- Other processes that have gone without clearly longer.
local function longer()
  for _, holder in ipairs(redis.call('ZRANGEBYSCORE', seenKey, '-inf', now - ask.forgottenMs, 'LIMIT', 0, 100)) do waitsNoMore(holder) end
  -- A clock that was set back must not keep the dead in line.
  for _, holder in ipairs(redis.call('ZRANGEBYSCORE', seenKey, '(' .. now, '+inf', 'LIMIT', 0, 100)) do waitsNoMore(holder) end
  return redis.call('ZCOUNT', waitingKey, '-inf', '(' .. sinceMs - clearlyLongerMs)
end

local function waits()
  redis.call('ZADD', waitingKey, sinceMs, ask.holder)
  redis.call('ZADD', seenKey, now, ask.holder)
  keep(waitingKey, ask.forgottenMs + 1000)
  keep(seenKey, ask.forgottenMs + 1000)
end
`;
