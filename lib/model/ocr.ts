import { z } from 'zod';
import type { BatchStats } from './embedding.js';
import { parseBody } from './request.js';
import type { Usage } from './usage.js';

/** Where a document is: a PDF or the like, or an image, by `https:` or `data:` address; or a file known to the provider. */
export type OcrDocument =
  | { type: 'document_url'; document_url: string; document_name?: string | null }
  | { type: 'image_url'; image_url: string | { url: string; detail?: string | null } }
  | { type: 'file'; file_id: string };

/**
 * The body of `POST /ocr`, Mistral-shaped; fields that are not listed travel on unchanged, but not to a source that is asked
 * by chat. `model` may be left out (each source has its own), `tags` go to telemetry and not upstream. `null` means the
 * provider's default.
 */
export interface OcrRequest {
  document: OcrDocument;
  model?: string | null;
  /** Pages to read, from 0; default: all. */
  pages?: readonly number[] | string | null;
  tags?: Record<string, string>;
  // `any`, since TypeScript lets no interface into an index of `unknown`.
  [field: string]: any;
}

/** A request that was checked and copied. */
export type ValidOcrRequest = OcrRequest;

/** One page of the document as text; `index` counts from 0. Fields beyond these are as the provider sent them. */
export interface OcrPage {
  index: number;
  markdown: string;
  [field: string]: unknown;
}

/** What a source answers: the pages in their order. What it did not say is `null` or absent. */
export interface OcrAnswer {
  readonly pages: readonly OcrPage[];
  readonly usage: Usage | null;
  readonly model?: string;
  readonly providerRequestId?: string;
}

/** The pages of a document, in their order. A figure that could not be measured is `null`. */
export interface OcrResponse {
  pages: OcrPage[];
  usage: Usage | null;
  callId: string;
  model: string;
  source: string;
  providerRequestId: string | null;
  /** The attempt that was answered: its wall time. */
  latencyMs: number;
  /** The whole call, waits and failed rounds included. */
  callMs: number;
  stats: BatchStats;
}

const address = z.string().min(1);

const document = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('document_url'), document_url: address }),
  z.looseObject({ type: z.literal('image_url'), image_url: z.union([address, z.looseObject({ url: address })]) }),
  z.looseObject({ type: z.literal('file'), file_id: z.string().min(1) }),
]);

const schema = z.looseObject({
  document,
  model: z.string().min(1).nullish(),
  tags: z.record(z.string(), z.string()).optional(),
});

/** Checks a request before anything is sent, and copies it. Throws `RequestError`, which names every field that is wrong. */
export function parseOcrRequest(request: unknown): ValidOcrRequest {
  return parseBody(schema, request) as OcrRequest;
}
