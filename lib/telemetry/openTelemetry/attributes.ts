import type { Attributes, AttributeValue } from '@opentelemetry/api';
import type { AttemptRecord, GatewayEventBody } from '../../model/events.js';
import { errorText } from '../attemptRow.js';
import { genAi, general, own, providerName } from './names.js';

export type EventOf<T extends GatewayEventBody['type']> = Extract<GatewayEventBody, { type: T }>;

/** Where a source is asked. */
export interface Place {
  readonly id: string;
  readonly baseUrl: string;
}

/** Attributes of the sources by their ids; the address of one that is no HTTP source of the settings is not known. */
export function placesOf(places: readonly Place[]): (source: string) => Attributes {
  const known = new Map(places.map(({ id, baseUrl }) => [id, addressOf(baseUrl)]));
  return (source) => known.get(source) ?? {};
}

/** The base URL itself stays out: a key may stand in its query. */
function addressOf(baseUrl: string): Attributes {
  if (!URL.canParse(baseUrl)) return {};
  const { hostname, port, protocol } = new URL(baseUrl);
  return { [general.serverAddress]: hostname.replace(/^\[|\]$/g, ''), [general.serverPort]: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) };
}

export function callAttributes({ scope, callId, operation, model, streamed }: EventOf<'call-started'>): Attributes {
  return present({
    [genAi.operation]: operation,
    [genAi.requestModel]: model,
    [genAi.requestStream]: streamed,
    [own.scope]: scope,
    [own.callId]: callId,
  });
}

/** What both spans and metrics tell of an attempt: few values each. */
export function sourceAttributes({ source, provider, model }: EventOf<'attempt-started'>, { scope, operation }: EventOf<'call-started'>): Attributes {
  return {
    [genAi.operation]: operation,
    [genAi.provider]: providerName(provider),
    [genAi.requestModel]: model,
    [own.scope]: scope,
    [own.source]: source,
  };
}

export function attemptAttributes(attempt: EventOf<'attempt-started'>, call: EventOf<'call-started'>): Attributes {
  return present({
    ...sourceAttributes(attempt, call),
    [genAi.requestStream]: call.streamed,
    [own.callId]: attempt.callId,
    [own.attemptId]: attempt.attemptId,
    [own.round]: attempt.round,
    [own.role]: attempt.role,
    [own.trigger]: attempt.trigger,
    [own.waitedMs]: attempt.waitedMs,
  });
}

export function recordAttributes(record: AttemptRecord): Attributes {
  const { usage, errorClass } = record;
  const answered = errorClass === null;
  return present({
    [genAi.responseModel]: answered ? record.model : null,
    [genAi.finishReasons]: record.finishReason === null ? null : [record.finishReason],
    [genAi.timeToFirstChunk]: record.ttftMs === null ? null : record.ttftMs / 1000,
    [genAi.inputTokens]: usage?.promptTokens,
    [genAi.outputTokens]: usage?.completionTokens,
    [genAi.cachedTokens]: usage?.cachedTokens,
    [genAi.reasoningTokens]: usage?.reasoningTokens,
    [general.errorType]: isCancelled(record) ? null : errorClass,
    [general.httpStatus]: record.httpStatus,
    [own.outcome]: errorClass ?? 'ok',
    [own.cancelled]: isCancelled(record) ? true : null,
    [own.won]: record.won,
    [own.requestId]: record.providerRequestId,
    [own.increments]: record.increments,
    [own.maxGapMs]: record.maxInterTokenMs,
    [own.loopLagMs]: record.loopLagMs,
    ...stallAttributes(record),
  });
}

export function stallAttributes({ stallMs, stallCount }: Pick<AttemptRecord, 'stallMs' | 'stallCount'>): Attributes {
  return present({ [own.stallMs]: stallMs, [own.stallCount]: stallCount });
}

/** Nobody's failure: whoever waited left, or another attempt was faster. */
export function isCancelled({ errorClass }: AttemptRecord): boolean {
  return errorClass === 'hedge_cancelled' || errorClass === 'caller_cancelled';
}

/** Text that may come from outside: masked and cut as in rows. */
export const safeText = errorText;

/** Without what is not known. */
export function present(attributes: Readonly<Record<string, AttributeValue | null | undefined>>): Attributes {
  const known: Attributes = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) known[name] = value;
  }
  return known;
}
