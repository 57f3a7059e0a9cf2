import type { Attributes } from '@opentelemetry/api';
import type { AttemptRecord, HedgeTrigger } from '../../model/events.js';
import { isCancelled, sourceAttributes } from './attributes.js';
import type { EventOf } from './attributes.js';
import type { OpenTelemetry } from './guard.js';
import { createInstruments } from './instruments.js';
import type { Instruments } from './instruments.js';
import { genAi, general, own } from './names.js';
import type { CallFacts, Observer } from './observer.js';

export interface MetricsOptions {
  readonly api: OpenTelemetry;
  readonly now: () => number;
  readonly placeOf: (source: string) => Attributes;
}

export interface Metrics extends Observer {
  /** Nothing of it went out. It may be told after its call has ended, where a listener ended that when the attempt started. */
  unsent(this: void, attemptId: string): void;
  /** Notes an increment of this attempt; absent where nothing is streamed. */
  incrementsOf(this: void, attemptId: string): ((atMs: number) => void) | undefined;
}

/** An attempt that runs, with the instruments that saw it start. */
interface Running {
  readonly instruments: Instruments;
  readonly attributes: Attributes;
  readonly openAttributes: Attributes;
  readonly streamed: boolean;
  /** Of a backup, what its end is counted with. */
  readonly hedge: Attributes | undefined;
  lastMs: number;
  firstS?: number;
}

export function createMetrics({ api, now, placeOf }: MetricsOptions): Metrics {
  const instruments = createInstruments(api);
  const running = new Map<string, Running>();

  function start(event: EventOf<'attempt-started'>, call: CallFacts): void {
    const attributes = sourceAttributes(event, call);
    const started: Running = {
      instruments: instruments(),
      attributes: { ...attributes, ...placeOf(event.source) },
      openAttributes: { ...attributes, [genAi.requestStream]: call.streamed },
      streamed: call.streamed,
      hedge: event.role === 'backup' ? hedgeAttributes(event.source, event.trigger, call) : undefined,
      lastMs: now(),
    };
    running.set(event.attemptId, started);
    started.instruments.openStreams.add(1, started.openAttributes);
  }

  function end(attemptId: string, record?: AttemptRecord): void {
    const ended = running.get(attemptId);
    if (ended === undefined) return;
    running.delete(attemptId);
    ended.instruments.openStreams.add(-1, ended.openAttributes);
    if (record !== undefined) measure(record, ended);
  }

  function measure(record: AttemptRecord, { instruments: of, attributes, firstS }: Running): void {
    const failure = record.errorClass !== null && !isCancelled(record) ? { [general.errorType]: record.errorClass } : {};
    const byOutcome = { ...attributes, ...failure, [own.outcome]: record.errorClass ?? 'ok' };
    of.attempts.add(1, { ...byOutcome, [own.role]: record.role });
    of.duration.record((record.endedMs - record.startedMs) / 1000, byOutcome);
    // An answer that came in one piece though a stream was asked for has no first chunk (M2).
    if (firstS !== undefined && record.ttftMs !== null) of.timeToFirstChunk.record(firstS, attributes);
    if (record.stallMs !== null) of.stall.record(record.stallMs / 1000, attributes);
    const { promptTokens = null, completionTokens = null } = record.usage ?? {};
    if (promptTokens !== null) of.tokenUsage.record(promptTokens, { ...attributes, [genAi.tokenType]: 'input' });
    if (completionTokens !== null) of.tokenUsage.record(completionTokens, { ...attributes, [genAi.tokenType]: 'output' });
  }

  function countHedges({ records }: EventOf<'round-decided'>, call: CallFacts): void {
    for (const { source, hedgeTrigger, role, ...ended } of records) {
      if (role === 'backup') countHedge(hedgeAttributes(source, hedgeTrigger, call), hedgeOutcome(ended));
    }
  }

  function countHedge(attributes: Attributes, outcome: HedgeOutcome): void {
    instruments().hedges.add(1, { ...attributes, [own.hedgeOutcome]: outcome });
  }

  function endCall({ callMs, waitedMs, outcome }: EventOf<'call-ended'>, { operation, scope }: CallFacts): void {
    const attributes = { [genAi.operation]: operation, [own.scope]: scope, [own.outcome]: outcome };
    const { callDuration, callWait } = instruments();
    callDuration.record(callMs / 1000, attributes);
    callWait.record(waitedMs / 1000, attributes);
  }

  return {
    observe(event, call) {
      switch (event.type) {
        case 'attempt-started':
          start(event, call);
          break;
        case 'attempt-ended':
          end(event.attemptId, event.record);
          break;
        case 'hedge-refused':
          instruments().hedgesRefused.add(1, { [genAi.operation]: call.operation, [own.scope]: call.scope, [own.source]: event.source, [own.gate]: event.gate });
          break;
        case 'round-decided':
          countHedges(event, call);
          break;
        case 'call-ended':
          endCall(event, call);
          break;
        default:
          break;
      }
    },
    unsent(attemptId) {
      const hedge = running.get(attemptId)?.hedge;
      end(attemptId);
      if (hedge !== undefined) countHedge(hedge, 'cancelled');
    },
    incrementsOf(attemptId) {
      const attempt = running.get(attemptId);
      if (attempt?.streamed !== true) return undefined;
      return (atMs) => {
        const gapS = (atMs - attempt.lastMs) / 1000;
        attempt.lastMs = atMs;
        if (attempt.firstS === undefined) attempt.firstS = gapS;
        else attempt.instruments.timePerOutputChunk.record(gapS, attempt.attributes);
      };
    },
  };
}

function hedgeAttributes(source: string, trigger: HedgeTrigger | null, { operation, scope }: CallFacts): Attributes {
  return { [genAi.operation]: operation, [own.scope]: scope, [own.source]: source, ...(trigger === null ? {} : { [own.trigger]: trigger }) };
}

type HedgeOutcome = 'won' | 'lost' | 'failed' | 'cancelled';

/** The call's deadline counts as a failure, its caller's leaving does not. */
function hedgeOutcome({ won, errorClass }: Pick<AttemptRecord, 'won' | 'errorClass'>): HedgeOutcome {
  if (won) return 'won';
  if (errorClass === null || errorClass === 'hedge_cancelled') return 'lost';
  return errorClass === 'caller_cancelled' ? 'cancelled' : 'failed';
}
