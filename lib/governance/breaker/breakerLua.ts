/**
 * `breaker.ts` once more, to run beside the data. A state is one JSON text; one that cannot be read (`nil`) is left as it
 * is, and the holder decides by itself (G6). Needs `ask`, `now`, `breakerKey` and `leaseIsAlive`.
 */
export const breakerLua = `
local slices = 10
local leastShare = 0.8
local changes = {}

local function freshBreaker()
  return { type = 'closed', generation = 0, level = 0, sinceMs = 0, inARow = 0, buckets = {} }
end

local figures = {
  closed = { 'generation', 'level', 'sinceMs', 'inARow' },
  open = { 'generation', 'level', 'coolDownMs', 'untilMs' },
  ['half-open'] = { 'generation', 'level', 'coolDownMs', 'untilMs', 'leaseUntilMs' },
}

local function isBreaker(state)
  if type(state) ~= 'table' or not figures[state.type] then return false end
  for _, name in ipairs(figures[state.type]) do
    if type(state[name]) ~= 'number' then return false end
  end
  return state.type ~= 'closed' or type(state.buckets) == 'table'
end

local function writeBreaker(state)
  redis.call('SET', breakerKey, cjson.encode(state), 'PX', ask.keepMs)
end

local function probeMs(state)
  return math.max(state.coolDownMs, ask.probeLeaseMs)
end

-- A clock that was set back must not keep a source out for longer than its cool-down; kept, or each look would begin it anew.
local function onThisClock(state)
  local coolsTooLong = state.untilMs and state.untilMs > now + state.coolDownMs
  local probesTooLong = state.leaseUntilMs and state.leaseUntilMs > now + probeMs(state)
  if coolsTooLong then state.untilMs = now + state.coolDownMs end
  if probesTooLong then state.leaseUntilMs = now + probeMs(state) end
  if coolsTooLong or probesTooLong then writeBreaker(state) end
  return state
end

local function readBreaker()
  local text = redis.pcall('GET', breakerKey)
  if text == false then return freshBreaker() end
  if type(text) ~= 'string' then return nil end
  local readable, state = pcall(cjson.decode, text)
  if not readable or not isBreaker(state) then return nil end
  return onThisClock(state)
end

local function verdictOf(state)
  if state.type == 'closed' then return { type = 'pass' } end
  if state.type == 'open' then
    if now >= state.untilMs then return { type = 'probe' } end
    return { type = 'cooling', leftMs = state.untilMs - now }
  end
  -- The place of a probe whose process has died is free with its lease.
  if now >= state.leaseUntilMs or not leaseIsAlive(state.probe) then return { type = 'probe' } end
  return { type = 'probing', leftMs = state.leaseUntilMs - now }
end

local function nextLevel(level)
  local policy = ask.breaker
  if policy.cooldownMs * 2 ^ level < policy.cooldownMaxMs then return level + 1 end
  return level
end

local function opened(state, level)
  local policy = ask.breaker
  local fullMs = math.min(policy.cooldownMaxMs, policy.cooldownMs * 2 ^ level)
  local coolDownMs = math.floor(fullMs * (leastShare + (1 - leastShare) * ask.random))
  return { type = 'open', generation = state.generation + 1, level = level, coolDownMs = coolDownMs, untilMs = now + coolDownMs }
end

local function counted(state, failed)
  local windowMs = ask.breaker.windowMs
  -- By the time at which a slice begins, since processes may have windows of different length.
  local atMs = math.floor(now * slices / windowMs) * windowMs / slices
  local buckets, current = {}, { atMs = atMs, results = 0, failures = 0 }
  for _, bucket in ipairs(state.buckets) do
    if bucket.atMs == atMs then current = bucket
    elseif bucket.atMs > atMs - windowMs and bucket.atMs <= now then buckets[#buckets + 1] = bucket end
  end
  current.results = current.results + 1
  if failed then current.failures = current.failures + 1 end
  buckets[#buckets + 1] = current
  state.buckets = buckets
  state.lastResultMs = now
end

local function afterFailure(state, admittedMs)
  local policy = ask.breaker
  local idle = state.lastResultMs and admittedMs - state.lastResultMs > policy.windowMs
  state.inARow = idle and 1 or state.inARow + 1
  counted(state, true)
  local results, failures = 0, 0
  for _, bucket in ipairs(state.buckets) do
    results = results + bucket.results
    failures = failures + bucket.failures
  end
  local tooMany = policy.minCalls and results >= policy.minCalls and failures / results >= policy.ratio
  if not (policy.failures and state.inARow >= policy.failures) and not tooMany then return state end
  local healed = math.max(0, math.floor((now - state.sinceMs) / policy.windowMs))
  return opened(state, math.max(0, state.level - healed))
end

local function afterResult(state, result, admittedMs)
  if result == 'failure' then return afterFailure(state, admittedMs) end
  if result == 'success' then
    counted(state, false)
    state.inARow = 0
  end
  return state
end

local function afterProbe(state, result)
  if result == 'success' then
    local closed = freshBreaker()
    closed.generation = state.generation + 1
    closed.level = nextLevel(state.level)
    closed.sinceMs = now
    return closed
  end
  if result == 'failure' then return opened(state, nextLevel(state.level)) end
  return { type = 'open', generation = state.generation + 1, level = state.level, coolDownMs = state.coolDownMs, untilMs = state.untilMs }
end

-- Tells a change of phase, for the process that caused it to report.
local function changeBreaker(before, after)
  local phase = before.type
  writeBreaker(after)
  if after.type == phase then return end
  local coolDownMs = after.type == 'open' and (after.untilMs > now and after.coolDownMs or 0) or nil
  changes.breaker = { from = phase, to = after.type, coolDownMs = coolDownMs }
end

local function takeProbe(state, id)
  local halfOpen = { type = 'half-open', generation = state.generation + 1, level = state.level, coolDownMs = state.coolDownMs, untilMs = state.untilMs, leaseUntilMs = now + probeMs(state), probe = id }
  changeBreaker(state, halfOpen)
  return halfOpen
end

-- What belongs to another generation changes nothing, and nobody is let in by an open breaker.
local function breakerHears(result, held)
  local state = readBreaker()
  if not state then return nil end
  if state.type == 'open' or state.generation ~= held.generation then return state end
  local phase = { type = state.type }
  local after = state.type == 'closed' and afterResult(state, result, held.admittedMs) or state.type == 'half-open' and afterProbe(state, result)
  changeBreaker(phase, after)
  return after
end
`;
