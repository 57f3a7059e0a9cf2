import { mulberry32 } from '../../lib/lab/mulberry32.js';
import type { AttemptRecord, RowClass } from '../../lib/model/events.js';
import { toRow } from '../../lib/telemetry/attemptRow.js';
import type { AttemptRow } from '../../lib/telemetry/attemptRow.js';
import { attemptRecord } from '../telemetry/attemptRecord.js';

export interface RandomRowsOptions {
  readonly seed: number;
  readonly calls: number;
  /** The calls are spread over this time from `rowsFrom`. Default two days. */
  readonly spanHours?: number;
}

export const rowsFrom = Date.parse('2026-11-01T00:00:00.000Z');
/** A key that a JSON path would take apart. */
export const oddTag = 'team."a.b"';

interface Source {
  readonly source: string;
  readonly provider: string;
  readonly model: string;
}

const sources: readonly Source[] = [
  { source: 'openai/1', provider: 'openai', model: 'gpt-x' },
  { source: 'openai/1', provider: 'openai', model: 'gpt-y' },
  { source: 'azure/1', provider: 'azure', model: 'gpt-x' },
  { source: 'mistral/1', provider: 'mistral', model: 'large' },
];
const failures: readonly RowClass[] = ['transient', 'rate_limited', 'source', 'request', 'caller_cancelled', 'deadline'];

type Ends = Pick<AttemptRecord, 'outcome' | 'errorClass' | 'won'>;
const won: Ends = { outcome: 'ok', errorClass: null, won: true };
const lost: Ends = { outcome: 'ok', errorClass: null, won: false };
const failed = (errorClass: RowClass): Ends => ({ outcome: 'error', errorClass, won: false });

/** Seeded calls with every outcome, hedges, retries, embeddings, whole answers and silences of every length; in no order. */
export function randomRows({ seed, calls, spanHours = 48 }: RandomRowsOptions): AttemptRow[] {
  const random = mulberry32(seed);
  const upTo = (most: number): number => Math.floor(random() * most);
  const pick = <T>(list: readonly T[]): T => list[upTo(list.length)]!;
  const isBelow = (share: number): boolean => random() < share;
  const heavyMs = (): number => Math.round((20 / (random() + 1e-4)) * 100) / 100;
  const tokens = (): number => 50 + upTo(2000);

  /** What a stream of increments leaves in its record, by the rules M1, M2 and the interface's `record_gaps`. */
  const streamOf = (ends: Ends, increments: number): Partial<AttemptRecord> => {
    const gaps = Array.from({ length: Math.max(0, increments - 1) }, heavyMs);
    const firstMs = isBelow(0.03) ? 0 : heavyMs();
    const tailMs = isBelow(0.3) ? 0 : isBelow(0.5) ? heavyMs() : 1;
    const recordGaps: [number, number][] = firstMs > 0 ? [[0, firstMs]] : [];
    let atMs = firstMs;
    let longestMs = 0;
    for (const gapMs of increments === 0 ? [] : [...gaps, tailMs]) {
      if (gapMs > longestMs) recordGaps.push([atMs, gapMs]);
      longestMs = Math.max(longestMs, gapMs);
      atMs += gapMs;
    }
    const isMeasured = ends.outcome === 'ok' && increments > 1;
    return {
      ttftMs: increments === 0 ? null : firstMs,
      increments,
      recordGaps: recordGaps.map(([offsetMs, gapMs]) => [Math.trunc(offsetMs), Math.trunc(gapMs)] as const),
      latencyMs: atMs,
      stallMs: isMeasured ? gaps.filter((gapMs) => gapMs > 1000).reduce((sum, gapMs) => sum + gapMs, 0) : null,
      stallCount: isMeasured ? gaps.filter((gapMs) => gapMs > 1000).length : null,
      maxInterTokenMs: isMeasured ? Math.max(...gaps) : null,
    };
  };
  const wholeOf = (): Partial<AttemptRecord> => {
    const latencyMs = heavyMs();
    return { ttftMs: null, increments: null, recordGaps: [[0, Math.trunc(latencyMs)]], latencyMs, stallMs: null, stallCount: null, maxInterTokenMs: null };
  };

  const rows: AttemptRow[] = [];
  for (let at = 0; at < calls; at++) {
    const callId = `call-${upTo(1e9)}-${at}`;
    const streamed = isBelow(0.85);
    const tags = isBelow(0.5) ? null : { tier: pick(['gold', 'plain']), [oddTag]: pick(['x', 'y']) };
    let startedAtMs = rowsFrom + upTo(spanHours * 3_600_000);
    let waitedMs = isBelow(0.8) ? 0 : heavyMs();

    const add = (over: Partial<AttemptRecord>, startMs: number, ends: Ends): number => {
      const increments = ends.outcome === 'ok' ? 1 + upTo(12) : upTo(8);
      const reportsUsage = ends.outcome === 'ok' ? isBelow(0.9) : isBelow(0.2);
      const record = attemptRecord({
        id: `attempt-${rows.length}`,
        callId,
        scope: streamed ? 'LLM' : pick(['LLM', 'EMBEDDING']),
        ...pick(sources),
        streamed,
        errorMessage: ends.errorClass && `it was ${ends.errorClass}`,
        waitedMs,
        tags,
        ...(streamed ? streamOf(ends, increments) : wholeOf()),
        usage: reportsUsage ? { promptTokens: tokens(), completionTokens: tokens(), totalTokens: tokens(), reasoningTokens: null, cachedTokens: null } : null,
        estimatedTokens: isBelow(0.8) ? tokens() : null,
        loopLagMs: isBelow(0.9) ? 3 : isBelow(0.5) ? 1000 + upTo(3) : null,
        ...ends,
        ...over,
      });
      const row = toRow({ ...record, startedMs: 0 }, { nowMs: record.latencyMs, date: new Date(startMs + record.latencyMs), pid: 1, host: 'h' });
      rows.push({ ...row, started_at: new Date(startMs).toISOString() });
      return startMs + record.latencyMs;
    };

    const rounds = 1 + upTo(isBelow(0.2) ? 4 : 1);
    for (let round = 1; round <= rounds; round++) {
      const isLast = round === rounds && isBelow(0.95);
      const hedgeTrigger = pick(['first_increment', 'stall'] as const);
      const hedged = isBelow(0.2);
      const [primary, backup] = isLast
        ? pick([[won, failed('hedge_cancelled')], [won, lost], [failed('hedge_cancelled'), won], [lost, won], [won, failed('transient')]] as const)
        : [failed(pick(failures)), failed(pick(failures))];
      const alone = isLast ? won : failed(pick(failures));
      const startMs = startedAtMs;
      let endMs = add({ round, role: 'primary', hedgeTrigger: null }, startMs, hedged ? primary : alone);
      if (hedged) endMs = Math.max(endMs, add({ round, role: 'backup', hedgeTrigger }, startMs + (isBelow(0.1) ? 0 : upTo(3000)), backup));
      const waitMs = heavyMs();
      waitedMs += waitMs;
      startedAtMs = Math.floor(endMs + waitMs);
    }
  }
  return rows.map((row) => ({ row, place: random() })).sort((a, b) => a.place - b.place).map(({ row }) => row);
}
