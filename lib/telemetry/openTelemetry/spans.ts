import type { Attributes, Context, Link, Span, SpanContext, SpanStatus } from '@opentelemetry/api';
import type { AttemptRecord } from '../../model/events.js';
import type { TraceCarrier } from '../../model/tracing.js';
import { attemptAttributes, callAttributes, isCancelled, present, recordAttributes, safeText, stallAttributes } from './attributes.js';
import type { EventOf } from './attributes.js';
import type { Contexts } from './contexts.js';
import type { Guard, OpenTelemetry } from './guard.js';
import type { CallFacts, Observer } from './observer.js';
import { general, own, spanEvents } from './names.js';

export interface SpansOptions {
  readonly api: OpenTelemetry;
  readonly guard: Guard;
  readonly contexts: Contexts;
  readonly now: () => number;
  /** Whether requests take the trace along. */
  readonly propagate: boolean;
  readonly placeOf: (source: string) => Attributes;
}

export interface Spans extends Observer {
  attempt(this: void, attemptId: string): (TraceCarrier & { within<T>(this: void, work: () => T): T }) | undefined;
}

interface CallSpan {
  readonly span: Span;
  readonly context: Context;
  /** The date, in milliseconds, of a time of the gateway's clock. */
  readonly dateOf: (atMs: number) => number;
  /** Attempts whose spans are open. */
  readonly live: Set<string>;
  /** Of the round that runs. */
  primary?: SpanContext;
  winner?: AttemptRecord;
}

interface Ending {
  readonly attributes: Attributes;
  readonly status?: SpanStatus | undefined;
}

interface AttemptSpan {
  readonly call: CallSpan;
  readonly span: Span;
  readonly context: Context;
}

/** A span per call, and below it one per attempt; each ends once, at the latest with its call. */
export function createSpans({ api, guard, contexts, now, propagate, placeOf }: SpansOptions): Spans {
  const calls = new Map<string, CallSpan>();
  const attempts = new Map<string, AttemptSpan>();
  const { SpanKind, SpanStatusCode } = api;
  // Asked anew each time, so that a provider that is registered late, or anew, is the one that is used.
  const tracer = (): ReturnType<OpenTelemetry['trace']['getTracer']> => api.trace.getTracer('polygateway');

  function startCall(event: EventOf<'call-started'>): void {
    // Once per call: a clock that was set, or a machine that slept, must not move later calls, nor change a length.
    const offsetMs = new Date().getTime() - now();
    const dateOf = (atMs: number): number => atMs + offsetMs;
    const parent = api.context.active();
    const options = { kind: SpanKind.INTERNAL, attributes: callAttributes(event), startTime: dateOf(now()) };
    const span = tracer().startSpan(nameOf(event.operation, event.model), options, parent);
    calls.set(event.callId, { span, context: contexts.of(parent, span), dateOf, live: new Set() });
  }

  function startAttempt(event: EventOf<'attempt-started'>, facts: CallFacts): void {
    const call = calls.get(event.callId);
    if (call === undefined) return;
    const links: Link[] = event.role === 'backup' && call.primary !== undefined ? [{ context: call.primary }] : [];
    const attributes = { ...attemptAttributes(event, facts), ...placeOf(event.source) };
    const options = { kind: SpanKind.CLIENT, attributes, links, startTime: call.dateOf(now()) };
    const span = tracer().startSpan(nameOf(facts.operation, event.model), options, call.context);
    if (event.role === 'primary') call.primary = span.spanContext();
    call.live.add(event.attemptId);
    attempts.set(event.attemptId, { call, span, context: contexts.outward(call.context, span) });
  }

  function endAttempt(attemptId: string, atMs: number, tell: () => Ending): void {
    const attempt = attempts.get(attemptId);
    if (attempt === undefined) return;
    attempts.delete(attemptId);
    attempt.call.live.delete(attemptId);
    end(attempt.span, attempt.call.dateOf(atMs), tell);
  }

  function decide({ callId, records }: EventOf<'round-decided'>): void {
    const call = calls.get(callId);
    const winner = records.find(({ won }) => won);
    if (call !== undefined && winner !== undefined) call.winner = winner;
    for (const record of records) endAttempt(record.id, record.endedMs, () => ({ attributes: recordAttributes(record), status: attemptStatus(record) }));
  }

  function endCall(event: EventOf<'call-ended'>): void {
    const call = calls.get(event.callId);
    if (call === undefined) return;
    calls.delete(event.callId);
    // Left within the start of its attempt, which will be said to be unsent.
    for (const attemptId of call.live) endAttempt(attemptId, now(), unsent);
    end(call.span, call.dateOf(now()), () => ({ attributes: callEndAttributes(event, call.winner), status: callStatus(event) }));
  }

  /** It is ended whatever becomes of the rest, which nobody reads where nothing is recorded. */
  function end(span: Span, endTime: number, tell: () => Ending): void {
    guard(() => {
      if (!span.isRecording()) return;
      const { attributes, status } = tell();
      span.setAttributes(attributes);
      if (status !== undefined) span.setStatus(status);
    });
    guard(() => span.end(endTime));
  }

  function note(target: AttemptSpan | CallSpan | undefined, name: string, attributes: Attributes): void {
    if (target === undefined) return;
    const { dateOf } = 'call' in target ? target.call : target;
    target.span.addEvent(name, attributes, dateOf(now()));
  }

  function attemptStatus(record: AttemptRecord): SpanStatus | undefined {
    if (record.errorClass === null) return { code: SpanStatusCode.OK };
    if (isCancelled(record)) return undefined;
    // Without the provider's words, which may repeat a prompt.
    return { code: SpanStatusCode.ERROR, message: (record.httpStatus ?? 0) < 400 ? record.errorClass : `${record.errorClass} (HTTP ${record.httpStatus})` };
  }

  function callStatus({ outcome, code }: EventOf<'call-ended'>): SpanStatus | undefined {
    if (outcome === 'cancelled') return undefined;
    return outcome === 'ok' ? { code: SpanStatusCode.OK } : { code: SpanStatusCode.ERROR, ...(code === null ? {} : { message: code }) };
  }

  return {
    observe(event, facts) {
      switch (event.type) {
        case 'call-started':
          startCall(event);
          break;
        case 'attempt-started':
          startAttempt(event, facts);
          break;
        case 'silence-noticed':
          note(attempts.get(event.attemptId), spanEvents.silence, { [own.trigger]: event.trigger, [own.silentMs]: event.silentMs });
          break;
        case 'hedge-refused':
          note(attempts.get(event.attemptId), spanEvents.hedgeRefused, { [own.gate]: event.gate, [own.reason]: safeText(event.reason) });
          break;
        case 'call-waiting':
          note(calls.get(event.callId), spanEvents.waiting, { [own.gate]: event.gate, [own.reason]: safeText(event.reason) });
          break;
        case 'retry-scheduled':
          note(calls.get(event.callId), spanEvents.retry, { [own.failureClass]: event.failureClass, [own.delayMs]: event.delayMs });
          break;
        case 'attempt-unsent':
          endAttempt(event.attemptId, now(), unsent);
          break;
        case 'round-decided':
          decide(event);
          break;
        case 'call-ended':
          endCall(event);
          break;
        default:
          break;
      }
    },
    attempt(attemptId) {
      const attempt = attempts.get(attemptId);
      if (attempt === undefined) return undefined;
      const { context } = attempt;
      return {
        headers: propagate ? contexts.headers(context) : {},
        send: (send) => contexts.run(contexts.silent(context), send),
        within: (work) => contexts.run(context, work),
      };
    },
  };
}

const unsent = (): Ending => ({ attributes: { [own.cancelled]: true, [own.unsent]: true } });

function nameOf(operation: string, model: string | null): string {
  return model === null ? operation : `${operation} ${model}`;
}

function callEndAttributes({ outcome, code, source, attempts, hedges, waitedMs }: EventOf<'call-ended'>, winner: AttemptRecord | undefined): Attributes {
  return present({
    [general.errorType]: outcome === 'failed' ? (code ?? '_OTHER') : null,
    [own.outcome]: outcome,
    [own.cancelled]: outcome === 'cancelled' ? true : null,
    [own.source]: source,
    [own.attempts]: attempts,
    [own.hedges]: hedges,
    [own.hedgeWon]: winner === undefined ? null : winner.role === 'backup',
    [own.waitedMs]: waitedMs,
    ...(winner === undefined ? {} : stallAttributes(winner)),
  });
}
