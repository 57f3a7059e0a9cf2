/** `pace.ts` once more, to run beside the data; who is in flight is told by the leases. Needs `ask`, `changes` and `sourceKey`. */
export const paceLua = `
local function readPace()
  local limit, epoch, slow = unpack(redis.call('HMGET', sourceKey, 'paceLimit', 'paceEpoch', 'paceSlow'))
  return { limit = tonumber(limit or nil) or math.huge, epoch = tonumber(epoch or nil) or 0, slowStart = slow == '1' }
end

local function concurrencyOf(pace)
  return math.floor(pace.limit)
end

local function writePace(before, after)
  redis.call('HSET', sourceKey, 'paceLimit', string.format('%.17g', after.limit), 'paceEpoch', after.epoch, 'paceSlow', after.slowStart and '1' or '0')
  keepSource()
  if concurrencyOf(after) ~= concurrencyOf(before) then changes.concurrency = concurrencyOf(after) end
end

local function restartPace()
  local pace = readPace()
  writePace(pace, { limit = 1, epoch = pace.epoch + 1, slowStart = true })
end

local function paceHears(result, held, inFlight)
  local pace = readPace()
  if held.epoch ~= pace.epoch then return end
  local limit = pace.limit
  if result == 'rate-limited' then
    writePace(pace, { limit = math.max(1, math.min(limit, inFlight) * 9 / 10), epoch = pace.epoch + 1, slowStart = false })
  elseif result == 'success' and limit < math.huge and inFlight >= limit / 2 then
    writePace(pace, { limit = limit + (pace.slowStart and 1 or 1 / limit), epoch = pace.epoch, slowStart = pace.slowStart })
  end
end
`;
