import { VirtualTimeScheduler, catchError, concatMap, defer, of, range } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Policy } from '../../lib/gateway/ports.js';
import { mulberry32 } from '../../lib/lab/mulberry32.js';
import { TransientError } from '../../lib/model/errors.js';
import { scriptedSource } from '../../lib/sources/scriptedSource.js';
import type { ScriptStep } from '../../lib/sources/scriptedSource.js';
import type { StoredAttempt } from '../../lib/telemetry/attemptReader.js';
import { toRow } from '../../lib/telemetry/attemptRow.js';
import { replaceStream } from '../support/replaceStream.js';
import { hello, virtualGateway } from '../support/virtualGateway.js';
import type { VirtualGateway } from '../support/virtualGateway.js';

export interface Workload {
  readonly seed: number;
  readonly calls: number;
  readonly hedgeAfterMs?: number;
  readonly hedgeStallAfterMs?: number;
  readonly callDeadlineMs?: number;
}

/** What one of the three sources is like. */
interface Manner {
  readonly firstMs: number;
  readonly stallShare: number;
  readonly stallMs: number;
  readonly failShare: number;
}

const manners: readonly Manner[] = [
  { firstMs: 1500, stallShare: 0.25, stallMs: 14_000, failShare: 0.03 },
  { firstMs: 1000, stallShare: 0.15, stallMs: 10_000, failShare: 0.02 },
  { firstMs: 2200, stallShare: 0.2, stallMs: 18_000, failShare: 0.05 },
];

/** Which source is asked first, second, third: each call has one of these orders, whatever is hedged. */
const orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] as const;

/** The stored attempts of each call of a workload that the real engine has played in virtual time, one call after the other. */
export function playWorkload({ seed, calls, ...policy }: Workload): StoredAttempt[][] {
  const scheduler = new VirtualTimeScheduler();
  const gateways = orders.map((order) => gatewayOf(order, seed, scheduler, policy));
  const call$ = (at: number): Observable<unknown> => {
    const order = Math.floor(mulberry32(seed * 1_000_003 + at)() * orders.length);
    return defer(() => gateways[order]!.chat$({ ...hello, messages: [{ role: 'user', content: String(at) }] })).pipe(catchError((error: unknown) => of(error)));
  };
  range(0, calls).pipe(concatMap(call$)).subscribe();
  scheduler.flush();
  const stored = gateways.flatMap(({ rows }) => rows).map((record) => toStored(record, scheduler.now()));
  const byCall = new Map<string, StoredAttempt[]>();
  for (const attempt of stored) byCall.set(attempt.call_id, [...(byCall.get(attempt.call_id) ?? []), attempt]);
  return [...byCall.values()];
}

/** A request's answer depends on the call, the source and how often the call has asked there, and on nothing else. */
function gatewayOf(order: readonly number[], seed: number, scheduler: VirtualTimeScheduler, policy: Partial<Policy>): VirtualGateway {
  const random = mulberry32(seed);
  const specs = manners.map((_, at) => ({ scripts: [''], ttftS: 60, interTokenS: 90, timeoutS: 240, priority: order.indexOf(at) }));
  const gateway = virtualGateway(specs, scheduler, { ...policy, random });
  gateway.sources.forEach((source, at) => {
    const tries = new Map<string, number>();
    replaceStream(source, () => (request, context) =>
      defer(() => {
        const call = String(request.messages[0]?.['content']);
        const nth = tries.get(call) ?? 0;
        tries.set(call, nth + 1);
        const steps = timelineOf(manners[at]!, mulberry32(((seed * 31 + Number(call)) * 3 + at) * 4 + nth));
        return scriptedSource({ id: source.id, scripts: [steps], scheduler }).stream(request, context);
      }));
  });
  return gateway;
}

const chunks = 8;

/** A wait with a long tail, chunks, a stall of a longer tail now and then at any place, a failure now and then. */
function timelineOf(manner: Manner, random: () => number): ScriptStep[] {
  for (let warm = 0; warm < 3; warm++) random();
  const stallAt = random() < manner.stallShare ? 1 + Math.floor(random() * chunks) : -1;
  const failAt = random() < manner.failShare ? Math.floor(random() * chunks) : -1;
  const pace = logNormal(650, 0.5, random);
  const steps: ScriptStep[] = [];
  let atMs = logNormal(manner.firstMs, 0.9, random);
  for (let at = 0; at < chunks; at++) {
    if (at > 0) atMs += pace * (0.5 + random());
    if (at === stallAt) atMs += logNormal(manner.stallMs, 0.9, random);
    if (at === failAt) return [...steps, { atMs: Math.round(atMs), type: 'error', get error() { return new TransientError('it broke', { httpStatus: 502 }); } }];
    steps.push({ atMs: Math.round(atMs), type: 'delta', delta: { type: 'content', text: 'x' } });
  }
  // The silence after the last word counts as well.
  atMs += pace + (stallAt === chunks ? logNormal(manner.stallMs, 0.9, random) : 0);
  const endMs = Math.round(atMs);
  const tokens = 100 + Math.floor(random() * 200);
  const usage = { promptTokens: 50, completionTokens: tokens, totalTokens: 50 + tokens, reasoningTokens: null, cachedTokens: null };
  return [
    ...steps,
    { atMs: endMs, type: 'delta', delta: { type: 'finish', reason: 'stop' } },
    { atMs: endMs, type: 'delta', delta: { type: 'usage', usage } },
    { atMs: endMs, type: 'end' },
  ];
}

function logNormal(medianMs: number, sigma: number, random: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return medianMs * Math.exp(sigma * normal);
}

type Rows = VirtualGateway['rows'];

/** As a reader gives it back from a database. */
export function toStored(record: Rows[number], nowMs: number): StoredAttempt {
  const { started_at: startedAt, ...row } = toRow(record, { nowMs, date: new Date(nowMs), pid: 1, host: 'here' });
  return {
    ...row,
    streamed: row.streamed === 1,
    won: row.won === 1,
    tags: null,
    record_gaps: JSON.parse(row.record_gaps) as [number, number][],
    startedAtMs: Date.parse(startedAt),
  };
}

/** What really happened. */
export interface Truth {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly hedgedCalls: number;
  readonly backups: number;
  readonly primaries: number;
}

export function truthOf(calls: readonly (readonly StoredAttempt[])[]): Truth {
  const lengths = calls.map(lengthOf).sort((a, b) => a - b);
  const rank = (share: number): number => lengths[Math.ceil(share * lengths.length) - 1] ?? 0;
  const attempts = calls.flat();
  return {
    p50Ms: rank(0.5),
    p95Ms: rank(0.95),
    p99Ms: rank(0.99),
    hedgedCalls: calls.filter((call) => call.some(({ role }) => role === 'backup')).length,
    backups: attempts.filter(({ role }) => role === 'backup').length,
    primaries: attempts.filter(({ role }) => role === 'primary').length,
  };
}

/** From entering to the winner's end, else to the last attempt's. */
function lengthOf(call: readonly StoredAttempt[]): number {
  const ends = call.map(({ startedAtMs, latency_ms: latencyMs }) => startedAtMs + (latencyMs ?? 0));
  const winner = call.findIndex(({ won }) => won);
  const entered = Math.min(...call.map(({ startedAtMs }) => startedAtMs)) - (call[0]?.waited_ms ?? 0);
  return (winner === -1 ? Math.max(...ends) : ends[winner]!) - entered;
}

