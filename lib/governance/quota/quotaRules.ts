import { refuse } from '../gate.js';
import type { AdmissionRefused, Ticket } from '../gate.js';

/** What a source lets a client do; absent: no limit. */
export interface QuotaLimits {
  readonly id: string;
  /** Requests started in any 60 s. */
  readonly rpm?: number | undefined;
  /** Tokens in any 60 s: reserved by estimate, settled to what was used (G2). */
  readonly tpm?: number | undefined;
  /** Requests at once. */
  readonly maxConcurrency?: number | undefined;
}

/** More tokens than anybody uses at once; sums of such figures are still exact. */
const mostTokens = 1e12;

/** An estimate over the limit counts as the limit: the request then gets the window to itself, else it never could go. */
export function tokensToReserve({ estimatedTokens }: Ticket, { tpm }: Pick<QuotaLimits, 'tpm'>): number {
  return Math.min(tokenCount(estimatedTokens) ?? tpm ?? 0, tpm ?? Infinity);
}

/** Whole tokens; what cannot be a number of tokens is not known. */
export function tokenCount(tokens: number | null): number | null {
  return tokens !== null && tokens >= 0 && tokens < Infinity ? Math.min(Math.ceil(tokens), mostTokens) : null;
}

export function atOnceRefused(sourceId: string, { inUse }: { readonly inUse: number }): AdmissionRefused {
  return refuse(`${sourceId} runs ${inUse} requests already`, { sourceId, gate: 'concurrency' });
}

export interface RequestsSpent {
  readonly rpm: number;
  readonly requests: number;
  /** When the oldest of them leaves the window. */
  readonly leavesInMs: number;
}

export function requestsRefused(sourceId: string, { rpm, requests, leavesInMs }: RequestsSpent): AdmissionRefused {
  return refuse(`${sourceId} was sent ${requests} requests within 60 s (rpm ${rpm}) and takes the next in ${Math.ceil(leavesInMs)} ms`, { sourceId, gate: 'requests', retryAfterMs: leavesInMs });
}

export interface TokensSpent {
  readonly tpm: number;
  readonly tokens: number;
  readonly wanted: number;
  /** When there will be room: as things stand, and if all that still run turn out to have used nothing. */
  readonly asThingsStand: number;
  readonly atTheEarliest: number;
}

export function tokensRefused(sourceId: string, { tpm, tokens, wanted, asThingsStand, atTheEarliest }: TokensSpent): AdmissionRefused {
  return refuse(`${sourceId} has ${tokens} tokens in use within 60 s (tpm ${tpm}) and room for ${wanted} more in ${Math.ceil(asThingsStand)} ms`, {
    sourceId,
    gate: 'tokens',
    retryAfterMs: asThingsStand,
    notBeforeMs: atTheEarliest,
  });
}
