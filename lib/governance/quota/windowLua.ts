/**
 * `slidingWindow.ts` once more, to run beside the data: a sorted set of ids by the time they were spent, and a hash with
 * their tokens and the sums. Needs `ask`, `now`, `keep`, `windowKey` and `spendingKey`.
 */
export const windowLua = `
local function tokensOf(text)
  local tokens, running = string.match(text or '', '^(%d+):([01])$')
  return tonumber(tokens) or 0, running == '1'
end

local function addTo(sum, tokens)
  if tokens ~= 0 then redis.call('HINCRBY', spendingKey, sum, string.format('%d', tokens)) end
end

local function sumOf(sum)
  return tonumber(redis.call('HGET', spendingKey, sum) or nil) or 0
end

local function forget(id)
  local tokens, running = tokensOf(redis.call('HGET', spendingKey, id))
  addTo('#tokens', -tokens)
  if running then addTo('#running', -tokens) end
  redis.call('HDEL', spendingKey, id)
  redis.call('ZREM', windowKey, id)
end

-- Bounded, so that one decision does not pay for all that a minute has left behind; tokens then count a little longer.
local mostForgotten = 1000

local function forgetOld()
  local old = redis.call('ZRANGEBYSCORE', windowKey, '-inf', now - ask.windowMs, 'LIMIT', 0, mostForgotten)
  if #old > 0 then
    local sum, runningSum = 0, 0
    for _, text in ipairs(redis.call('HMGET', spendingKey, unpack(old))) do
      local tokens, running = tokensOf(text)
      sum = sum + tokens
      if running then runningSum = runningSum + tokens end
    end
    addTo('#tokens', -sum)
    addTo('#running', -runningSum)
    redis.call('HDEL', spendingKey, unpack(old))
    redis.call('ZREM', windowKey, unpack(old))
  end
  -- A clock that was set back must not make the minute longer.
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', windowKey, '(' .. now, '+inf', 'LIMIT', 0, mostForgotten)) do redis.call('ZADD', windowKey, now, id) end
end

local function requestsWithin()
  return redis.call('ZCOUNT', windowKey, '(' .. now - ask.windowMs, '+inf')
end

local function spend(id, tokens)
  if redis.call('ZCARD', windowKey) == 0 then redis.call('DEL', spendingKey) end
  redis.call('ZADD', windowKey, now, id)
  redis.call('HSET', spendingKey, id, string.format('%d:1', tokens))
  addTo('#tokens', tokens)
  addTo('#running', tokens)
  keep(windowKey, ask.windowMs + 1000)
  keep(spendingKey, ask.windowMs + 1000)
end

local function settleSpending(id, used)
  local text = redis.call('HGET', spendingKey, id)
  local tokens, running = tokensOf(text)
  if not text or not running or not redis.call('ZSCORE', windowKey, id) then return end
  addTo('#running', -tokens)
  addTo('#tokens', (used or tokens) - tokens)
  redis.call('HSET', spendingKey, id, string.format('%d:0', used or tokens))
end

local function requestLeavesInMs()
  local oldest = redis.call('ZRANGE', windowKey, 0, 0, 'WITHSCORES')
  return oldest[2] and tonumber(oldest[2]) + ask.windowMs - now or 0
end

-- Looks at no more than mostLooked entries, so that one refusal does not hold up the others; then what it says is too early, and is asked again.
local mostLooked = 1000

local function tokensLeaveInMs(excess)
  local left, settledLeft = excess, excess - sumOf('#running')
  local asThingsStand, atTheEarliest = 0, 0
  local looked = 0
  while (left > 0 or settledLeft > 0) and looked < mostLooked do
    local page = redis.call('ZRANGE', windowKey, looked, looked + 99, 'WITHSCORES')
    if #page == 0 then break end
    local ids = {}
    for i = 1, #page, 2 do ids[#ids + 1] = page[i] end
    -- At once, since a call costs more than what it looks up.
    for i, spent in ipairs(redis.call('HMGET', spendingKey, unpack(ids))) do
      local tokens, running = tokensOf(spent)
      local inMs = tonumber(page[2 * i]) + ask.windowMs - now
      if left > 0 then
        left = left - tokens
        asThingsStand = inMs
      end
      if settledLeft > 0 and not running then
        settledLeft = settledLeft - tokens
        atTheEarliest = inMs
      end
    end
    looked = looked + 100
  end
  return asThingsStand, atTheEarliest
end
`;
