import type { EmbeddingResponse } from '../model/embedding.js';
import type { GatewayError } from '../model/errors.js';
import type { ChatResponse } from '../model/response.js';

/** What a client is told about how it was answered, as far as it is known. */
export interface Facts {
  source?: string;
  attempts?: number;
  hedges?: number;
  /** `null`: could not be measured, and is not told. */
  stallMs?: number | null;
  callId?: string;
}

const headerNames = {
  source: 'x-polygateway-source',
  attempts: 'x-polygateway-attempts',
  hedges: 'x-polygateway-hedges',
  stallMs: 'x-polygateway-stall-ms',
  callId: 'x-polygateway-call-id',
} as const satisfies Record<keyof Facts, string>;

type FactHeaders = Readonly<Record<string, string>>;

export const factHeaderNames: readonly string[] = Object.values(headerNames);

export function factHeaders(facts: Facts): FactHeaders {
  const fields = Object.keys(headerNames) as (keyof Facts)[];
  return Object.fromEntries(fields.flatMap((field) => (facts[field] === undefined || facts[field] === null ? [] : [[headerNames[field], headerText(facts[field])]])));
}

/** A source that somebody wrote himself may have any id, a header not. */
function headerText(value: string | number): string {
  return String(value).replace(/[^\x21-\x7e]/g, '?');
}

export function factsOfChat({ source, callId, stats: { attempts, hedges, stallMs } }: ChatResponse): Facts {
  return { source, attempts, hedges, stallMs, callId };
}

export function factsOfEmbedding({ source, callId, stats: { attempts } }: EmbeddingResponse): Facts {
  return { source, attempts, callId };
}

export function factsOfError({ source, attempts, callId }: GatewayError): Facts {
  return { ...(source === undefined ? {} : { source }), ...(attempts === undefined ? {} : { attempts }), ...(callId === undefined ? {} : { callId }) };
}
