import { z } from 'zod';
import { parseBody } from './request.js';
import type { Usage } from './usage.js';

/** What is embedded: a text, or the numbers of its tokens. */
export type EmbeddingInput = string | readonly number[];

/**
 * The OpenAI Embeddings request body, `input` being one text or several, or token numbers in their place; fields that are not listed travel on unchanged.
 * `model` may be left out (each source has its own), `tags` go to telemetry and not upstream. `null` means the provider's default.
 */
export interface EmbeddingRequest {
  input: EmbeddingInput | readonly EmbeddingInput[];
  model?: string | null;
  dimensions?: number | null;
  encoding_format?: 'float' | 'base64' | null;
  tags?: Record<string, string>;
  // `any`, since TypeScript lets no interface (such as those of the `openai` package) into an index of `unknown`.
  [field: string]: any;
}

/** A request that was checked and copied; `input` is always a list. */
export interface ValidEmbeddingRequest extends EmbeddingRequest {
  input: readonly EmbeddingInput[];
}

/** What a source answers to one batch: as many vectors as there were inputs, all of one length, in their order. What it did not say is `null` or absent. */
export interface EmbeddingAnswer {
  readonly vectors: readonly Float32Array[];
  readonly usage: Usage | null;
  readonly model?: string;
  readonly providerRequestId?: string;
}

/** The vectors of all inputs, in their order. A figure that could not be measured is `null`. */
export interface EmbeddingResponse {
  vectors: Float32Array[];
  /** Of all requests that were answered; a figure that one of them did not report is `null`. */
  usage: Usage | null;
  callId: string;
  /** Model, source and request id of the last answer. */
  model: string;
  source: string;
  providerRequestId: string | null;
  /** The whole call, waits and failed rounds included. */
  callMs: number;
  stats: BatchStats;
}

/** Counts of a call that is not streamed. */
export interface BatchStats {
  /** Number of requests sent. */
  attempts: number;
  /** Number of those whose answers are in the response. */
  answered: number;
  /** Time without any attempt in flight (B2). */
  waitedMs: number;
}

const text = z.string().min(1);
const tokens = z.array(z.number().int().nonnegative()).min(1);

const schema = z.looseObject({
  input: z.union([text, tokens, z.array(text).min(1), z.array(tokens).min(1)], { error: 'must be a text that is not empty, the numbers of its tokens, or a list of either' }),
  model: z.string().min(1).nullish(),
  dimensions: z.number().int().positive().nullish(),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  tags: z.record(z.string(), z.string()).optional(),
});

/** Checks a request before anything is sent, and copies it. Throws `RequestError`, which names every field that is wrong. */
export function parseEmbeddingRequest(request: unknown): ValidEmbeddingRequest {
  const copy = parseBody(schema, request) as EmbeddingRequest;
  return { ...copy, input: isOne(copy.input) ? [copy.input] : copy.input };
}

function isOne(input: EmbeddingRequest['input']): input is EmbeddingInput {
  return typeof input === 'string' || typeof input[0] === 'number';
}
