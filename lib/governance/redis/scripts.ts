import { breakerLua } from '../breaker/breakerLua.js';
import { paceLua } from '../pacing/paceLua.js';
import { windowLua } from '../quota/windowLua.js';
import { turnsLua } from './turnsLua.js';

// One script a decision. All that a script may touch is in KEYS, the nine keys of one source; all that it is told is one
// JSON text with durations, never instants: the time is the server's.

const preamble = `
local breakerKey, sourceKey, leasesKey, heldKey, windowKey, spendingKey, releasedKey, waitingKey, seenKey = unpack(KEYS)
local ask = cjson.decode(ARGV[1])

-- Whole milliseconds, of which a score and a JSON text keep every digit. Only tests name a time.
local function serverNow()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local now = ask.nowMs or serverNow()

-- Never shorter than it is kept already: other processes may have other settings.
local function keep(key, ms)
  if redis.call('PTTL', key) < ms then redis.call('PEXPIRE', key, ms) end
end

local function keepSource()
  keep(sourceKey, ask.keepMs)
end

local function keepLeases()
  keep(leasesKey, ask.ttlMs + 1000)
  keep(heldKey, ask.ttlMs + 1000)
end

local function leaseIsAlive(id)
  local untilMs = id and redis.call('ZSCORE', leasesKey, id)
  return untilMs and tonumber(untilMs) > now
end

local function inUse()
  return redis.call('ZCOUNT', leasesKey, '(' .. now, '+inf')
end

local function readHeld(id)
  local text = redis.call('HGET', heldKey, id)
  return text and cjson.decode(text)
end

local function writeHeld(id, held)
  redis.call('HSET', heldKey, id, cjson.encode(held))
end

-- Bounded, so that a decision costs the same after any number of processes have died.
local function pruneLeases()
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', leasesKey, '-inf', now, 'LIMIT', 0, 100)) do
    redis.call('ZREM', leasesKey, id)
    redis.call('HDEL', heldKey, id)
  end
  -- A clock that was set back must not let a dead process keep its places; other processes' leases may be longer than ours.
  local ahead = redis.call('ZRANGEBYSCORE', leasesKey, '(' .. now + ask.ttlMs, '+inf', 'WITHSCORES', 'LIMIT', 0, 100)
  for i = 1, #ahead, 2 do
    local held = readHeld(ahead[i])
    local ttlMs = held and held.ttlMs or ask.ttlMs
    if tonumber(ahead[i + 1]) > now + ttlMs then redis.call('ZADD', leasesKey, now + ttlMs, ahead[i]) end
  end
end

local function keepParked(untilMs)
  redis.call('HSET', sourceKey, 'parkedUntil', untilMs, 'parkedSince', now)
  keepSource()
end

local function parkedUntilMs()
  local untilMs, sinceMs = unpack(redis.call('HMGET', sourceKey, 'parkedUntil', 'parkedSince'))
  untilMs, sinceMs = tonumber(untilMs or nil) or 0, tonumber(sinceMs or nil) or 0
  if now >= sinceMs then return untilMs end
  -- A clock that was set back must not make a pause longer; from here on it is the new clock's.
  keepParked(now + untilMs - sinceMs)
  return now + untilMs - sinceMs
end
`;

/** Asks for a permit: heard by all governors, and taken from all of them or from none (G1). */
export const enterScript = `${preamble}${breakerLua}${paceLua}${windowLua}${turnsLua}
local function parkedLeftMs()
  return math.min(parkedUntilMs() - now, ask.longestParkMs)
end

pruneLeases()
local state, pace, used = readBreaker(), readPace(), inUse()

local function quotaRefusals(no)
  if ask.maxConcurrency and used >= ask.maxConcurrency then no.inUse = used end
  if not ask.rpm and not ask.tpm then return end
  forgetOld()
  local requests = requestsWithin()
  if ask.rpm and requests >= ask.rpm then no.requests = { rpm = ask.rpm, requests = requests, leavesInMs = requestLeavesInMs() } end
  local tokens = sumOf('#tokens')
  local excess = ask.tpm and tokens + ask.tokens - ask.tpm or 0
  if excess > 0 then
    local asThingsStand, atTheEarliest = tokensLeaveInMs(excess)
    no.tokens = { tpm = ask.tpm, tokens = tokens, wanted = ask.tokens, asThingsStand = asThingsStand, atTheEarliest = atTheEarliest }
  end
end

-- Where places are what is short, who has gone without longest is next.
local function turnRefusal(no)
  local places = math.min(ask.maxConcurrency or math.huge, concurrencyOf(pace))
  if places == math.huge then return end
  local free, before = places - used, longer()
  if free > 0 and free <= before then no.turn = { free = free, longer = before } end
  if ask.waits and (free <= 0 or no.turn) then waits() end
end

local function refusals(verdict)
  local no = {}
  if parkedLeftMs() > 0 then no.parkedMs = parkedLeftMs() end
  if verdict and (verdict.type ~= 'pass' and verdict.type ~= 'probe' or verdict.type == 'probe' and not ask.mayProbe) then no.breaker = verdict end
  if used >= concurrencyOf(pace) then no.paced = { concurrency = concurrencyOf(pace), inFlight = used, slowStart = pace.slowStart } end
  quotaRefusals(no)
  turnRefusal(no)
  return next(no) and no or nil
end

local function answer(no, held)
  local concurrency = pace.limit < math.huge and concurrencyOf(pace) or nil
  return cjson.encode({ refused = no, phase = state and state.type, concurrency = concurrency, changes = changes, probe = held and held.probe or nil })
end

-- It was given up before it was heard.
if redis.call('ZSCORE', releasedKey, ask.id) then return answer({ givenUp = true }) end
-- It was heard before.
if leaseIsAlive(ask.id) then return answer(nil, readHeld(ask.id)) end

local verdict = state and verdictOf(state)
local no = refusals(verdict)
if no then return answer(no) end

redis.call('ZADD', leasesKey, now + ask.ttlMs, ask.id)
if verdict and verdict.type == 'probe' then state = takeProbe(state, ask.id) end
local held = { generation = state and state.generation or -1, epoch = pace.epoch, admittedMs = now, ttlMs = ask.ttlMs, probe = verdict ~= nil and verdict.type == 'probe' }
writeHeld(ask.id, held)
keepLeases()
waitsNoMore(ask.holder)
if ask.rpm or ask.tpm then spend(ask.id, ask.tokens) end
return answer(nil, held)
`;

/** A half-open probe has said something: its source is back, and from here on it is an attempt like any other (G4). */
export const progressScript = `${preamble}${breakerLua}${paceLua}
local held = readHeld(ask.id)
local state = readBreaker()
if held and held.probe then
  held.probe = false
  if state and state.type == 'half-open' and state.generation == held.generation then
    state = breakerHears('success', held)
    restartPace()
    held.generation = state.generation
  end
  writeHeld(ask.id, held)
end
return cjson.encode({ phase = state and state.type, changes = changes })
`;

/** A request that was sent later than it was granted counts from then. */
export const lateScript = `${preamble}
local grantedMs = redis.call('ZSCORE', windowKey, ask.id)
if grantedMs then redis.call('ZADD', windowKey, math.min(now, grantedMs + ask.lateMs), ask.id) end
keep(windowKey, ask.windowMs + 1000)
keep(spendingKey, ask.windowMs + 1000)
return '{}'
`;

/** Gives a permit back, once however often it is said; what the attempt has taught is heard with it. */
export const settleScript = `${preamble}${breakerLua}${paceLua}${windowLua}
local held = readHeld(ask.id)
local state
if held then
  state = breakerHears(ask.result, held)
  if changes.breaker and changes.breaker.to == 'closed' then restartPace() end
  paceHears(ask.result, held, inUse())
end
if ask.result == 'unsent' then forget(ask.id) else settleSpending(ask.id, ask.tokens) end
redis.call('ZREM', leasesKey, ask.id)
redis.call('HDEL', heldKey, ask.id)
if ask.result == 'success' then
  redis.call('HSET', sourceKey, 'succeededMs', now)
  keepSource()
end
-- Something that was said for it has not been answered: should that come after this, it is void.
if ask.mayBeHeardLate then
  redis.call('ZADD', releasedKey, now + ask.ttlMs, ask.id)
  redis.call('ZREMRANGEBYSCORE', releasedKey, '-inf', now)
  keep(releasedKey, ask.ttlMs)
end
return cjson.encode({ phase = state and state.type, changes = changes })
`;

/**
 * Renews the leases of one process; gives those that are lost. One that was never let run out is put back where the server
 * has lost it, as far as there is room; one that has run out is never revived.
 */
export const renewScript = `${preamble}
pruneLeases()
local lost = {}
for _, lease in ipairs(ask.leases) do
  local missing = not leaseIsAlive(lease.id)
  local room = not ask.maxConcurrency or inUse() < ask.maxConcurrency
  -- What was given back meanwhile is not put back by a renewal that comes late.
  local released = missing and redis.call('ZSCORE', releasedKey, lease.id)
  if missing and (released or lease.sinceMs >= ask.ttlMs or not room) then
    lost[#lost + 1] = lease.id
  else
    redis.call('ZADD', leasesKey, now + ask.ttlMs, lease.id)
    -- What it was admitted under is not known any more, so its end will teach nothing.
    if missing then writeHeld(lease.id, { generation = -1, epoch = -1, admittedMs = now, ttlMs = ask.ttlMs, probe = false }) end
  end
end
keepLeases()
return cjson.encode({ lost = #lost > 0 and lost or nil })
`;

/** Parks the source; a shorter wish never shortens a longer one. */
export const parkScript = `${preamble}
keepParked(math.max(math.min(parkedUntilMs(), now + ask.longestParkMs), now + ask.forMs))
return '{}'
`;

/** How long ago an attempt at this source succeeded. */
export const ageScript = `${preamble}
local succeededMs = tonumber(redis.call('HGET', sourceKey, 'succeededMs') or nil)
-- A clock that was set back must not keep it young.
if succeededMs and succeededMs > now then
  succeededMs = now
  redis.call('HSET', sourceKey, 'succeededMs', now)
end
return cjson.encode({ ageMs = succeededMs and now - succeededMs })
`;
