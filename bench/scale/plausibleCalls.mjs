// Calls as a gateway with two busy sources and two spare ones records them: a fifth of the streams falls silent for long, some of those
// are hedged, one call in twenty fails once. Two million of them have as many distinct times as real ones would.
const dayMs = 86_400_000;
const sources = ['openai/1', 'openai/2', 'azure/1', 'local/1'];
const silentShare = 0.19;
const hedgedShare = 0.5;
const failedShare = 0.05;
const stallAfterMs = 20_000;

/** The attempts of calls without end, as the gateway hands them to its sinks; `startedMs` is since 1970. */
export function* plausibleCalls({ random, untilMs, days = 90 }) {
  for (;;) {
    const startedMs = Math.floor(untilMs - random() * days * dayMs);
    const call = { callId: uuid(random), startedMs, tags: { team: random() < 0.7 ? 'search' : 'agents' } };
    yield attemptsOf(call, random).map((attempt, at) => ({ ...attempt, id: `${call.callId}-${at + 1}`, endedMs: attempt.startedMs + attempt.latencyMs }));
  }
}

function attemptsOf(call, random) {
  const [first, other] = random() < 0.7 ? [sources[0], sources[2]] : [sources[1], sources[3]];
  if (random() < failedShare) return [failed(call, first, random), { ...answered(call, other, random, 2), startedMs: call.startedMs + 900, waitedMs: 700 }];
  const primary = answered(call, first, random, 1);
  const silence = primary.recordGaps.find(([, lengthMs]) => lengthMs > stallAfterMs);
  return silence === undefined || random() > hedgedShare ? [primary] : hedged(call, primary, silence[0] + stallAfterMs, other, random);
}

function hedged(call, primary, askedMs, source, random) {
  const backup = { ...answered(call, source, random, 1), role: 'backup', hedgeTrigger: 'stall', startedMs: call.startedMs + askedMs };
  const backupEndsMs = askedMs + backup.latencyMs;
  if (backupEndsMs >= primary.latencyMs) return [primary, cut(backup, primary.latencyMs - askedMs)];
  return [cut(primary, backupEndsMs), backup];
}

function answered(call, source, random, round) {
  const ttftMs = Math.round(logNormal(random, 1630, 0.8));
  const increments = 20 + Math.floor(random() * 400);
  const isSilent = random() < silentShare;
  const longestMs = Math.round(isSilent ? logNormal(random, 54_900, 0.5) : logNormal(random, 300, 0.6));
  const speakingMs = Math.round(increments * (20 + 20 * random()));
  return {
    ...attempt(call, source, round), outcome: 'ok', finishReason: 'stop', httpStatus: 200, won: true, ttftMs, increments,
    latencyMs: ttftMs + speakingMs + longestMs, maxInterTokenMs: longestMs, loopLagMs: Math.floor(random() * 12),
    usage: { promptTokens: 800, completionTokens: increments, reasoningTokens: null, cachedTokens: null, totalTokens: 800 + increments },
    recordGaps: [[0, ttftMs], [ttftMs, 20], [ttftMs + Math.round(speakingMs / 2), longestMs]],
    stallMs: isSilent ? longestMs : 0, stallCount: isSilent ? 1 : 0,
  };
}

function failed(call, source, random) {
  const latencyMs = Math.floor(50 + 100 * random());
  return { ...attempt(call, source, 1), outcome: 'error', errorClass: 'transient', errorMessage: `${source} answered 503: the server is overloaded.`, httpStatus: 503, latencyMs, recordGaps: [[0, latencyMs]] };
}

function cut(record, atMs) {
  const recordGaps = record.recordGaps.filter(([offsetMs]) => offsetMs < atMs).map(([offsetMs, lengthMs]) => [offsetMs, Math.min(lengthMs, atMs - offsetMs)]);
  const begun = record.ttftMs < atMs;
  return {
    ...record, outcome: 'error', errorClass: 'hedge_cancelled', finishReason: null, won: false, latencyMs: atMs, recordGaps, usage: null,
    estimatedTokens: 900, ttftMs: begun ? record.ttftMs : null, maxInterTokenMs: begun ? 120 : null, stallMs: null, stallCount: null,
  };
}

function attempt({ callId, startedMs, tags }, source, round) {
  return {
    callId, startedMs, tags, source, round, scope: 'LLM', provider: source.split('/')[0], model: 'gpt-4o-mini', role: 'primary', hedgeTrigger: null, streamed: true,
    errorClass: null, errorMessage: null, httpStatus: null, retryAfterMs: null, finishReason: null, providerRequestId: null, won: false, waitedMs: 0, ttftMs: null,
    maxInterTokenMs: null, increments: 0, usage: null, estimatedTokens: null, loopLagMs: 1, stallMs: null, stallCount: null,
  };
}

/** By the method of Box and Muller. */
function logNormal(random, medianValue, sigma) {
  return medianValue * Math.exp(sigma * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));
}

function uuid(random) {
  const hex = Array.from({ length: 4 }, () => Math.floor(random() * 2 ** 32).toString(16).padStart(8, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}
