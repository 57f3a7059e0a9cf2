import { z } from 'zod';
import { RequestError } from './errors.js';

const message = z.looseObject({ role: z.string().min(1) });
const count = z.number().int().positive();

const requestSchema = z.looseObject({
  messages: z.array(message).min(1),
  model: z.string().min(1).nullish(),
  stream: z.boolean().nullish(),
  n: z.number().int().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  max_tokens: count.nullish(),
  max_completion_tokens: count.nullish(),
  tools: z.array(z.looseObject({ type: z.string() })).nullish(),
  tags: z.record(z.string(), z.string()).optional(),
});

/**
 * The OpenAI Chat Completions request body; fields that are not listed travel on unchanged. `model` may be left out
 * (each source has its own), `stream` defaults to `true`, `tags` go to telemetry and not upstream.
 */
export interface ChatRequest {
  messages: readonly { role: string; [field: string]: any }[];
  model?: string | null;
  stream?: boolean | null;
  temperature?: number | null;
  top_p?: number | null;
  max_tokens?: number | null;
  max_completion_tokens?: number | null;
  tools?: readonly { type: string; [field: string]: any }[] | null;
  tags?: Record<string, string>;
  // `any`, since TypeScript lets no interface (such as those of the `openai` package) into an index of `unknown`.
  [field: string]: any;
}

/** A request that was checked and copied; `stream` is always said. */
export interface ValidRequest extends ChatRequest {
  stream: boolean;
}

/**
 * Checks a request before anything is sent, and copies it, so that a later change by the caller is not seen.
 * Throws `RequestError`, which names every field that is wrong.
 */
export function parseRequest(request: unknown): ValidRequest {
  const copy = parseBody(requestSchema, request) as ChatRequest;
  const { n } = copy as { n?: unknown };
  if (typeof n === 'number' && n !== 1) {
    throw new RequestError(`the request was not sent: n is ${n}, but one call gives one answer; make ${n} calls`);
  }
  return { ...copy, stream: copy.stream ?? true };
}

/** The same for an answer that is to be passed on as it comes: only a stream can be. */
export function parseStreamRequest(request: unknown): ValidRequest {
  const valid = parseRequest(request);
  if (!valid.stream) throw new RequestError('the request was not sent: stream is false, but only a stream can be passed on; leave it out, or ask with chat$');
  return valid;
}

/** A checked copy of a request body; what does not fit the schema throws `RequestError`. */
export function parseBody(schema: z.ZodType, request: unknown): unknown {
  const checked = schema.safeParse(request);
  if (!checked.success) {
    const problems = checked.error.issues.map((issue) => `${issue.path.join('.') || 'the request'}: ${issue.message}`);
    throw new RequestError(`the request was not sent: ${problems.join('; ')}`);
  }
  try {
    return JSON.parse(JSON.stringify(request)) as unknown;
  } catch (cause) {
    throw new RequestError('the request was not sent: it cannot be written as JSON', { cause });
  }
}
