import { z } from 'zod';
import { recordingFormat } from './stringifyRecording.js';

const atMs = z.number().nonnegative();
const name = z.string().min(1);
const fields = z.record(z.string(), z.unknown());
const figure = z.number().nullable();

/** What a source said is taken as it is, whatever else is in it. */
const said = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.looseObject({ type: z.literal(type), atMs, sameFrame: z.literal(true).exactOptional(), ...shape });

const delta = z.discriminatedUnion('type', [
  said('content', { text: z.string() }),
  said('reasoning', { text: z.string() }),
  said('refusal', { text: z.string() }),
  said('tool-call', {
    index: z.number().int().nonnegative(),
    id: z.string().exactOptional(),
    name: z.string().exactOptional(),
    arguments: z.string(),
    custom: z.literal(true).exactOptional(),
    extra: fields.exactOptional(),
  }),
  said('usage', { usage: z.looseObject({ promptTokens: figure, completionTokens: figure, totalTokens: figure, reasoningTokens: figure, cachedTokens: figure }) }),
  said('finish', { reason: z.string() }),
  said('logprobs', { logprobs: fields }),
  said('message-extra', { fields }),
  said('facts', { model: z.string().exactOptional(), providerRequestId: z.string().exactOptional(), whole: z.literal(true).exactOptional() }),
]);

const error = z.strictObject({
  name: z.string(),
  code: z.string().exactOptional(),
  message: z.string(),
  httpStatus: z.number().exactOptional(),
  retryAfterS: z.number().exactOptional(),
  providerRequestId: z.string().exactOptional(),
  get cause() {
    return error.exactOptional();
  },
});

const ended = <T extends string>(type: T) => z.strictObject({ type: z.literal(type), atMs });

const end = z.discriminatedUnion('type', [ended('completed'), ended('left'), ended('open'), z.strictObject({ type: z.literal('failed'), atMs, error })]);

const limit = z.number().positive().exactOptional();
const count = z.number().int().positive().exactOptional();

const source = z.strictObject({
  id: name,
  provider: z.string(),
  model: z.string(),
  limits: z.strictObject({ timeoutMs: limit, ttftTimeoutMs: limit, interTokenTimeoutMs: limit }),
  maxConcurrency: count,
  rpm: count,
  tpm: count,
  priority: z.number().exactOptional(),
  weight: z.number().positive().exactOptional(),
});

const request = z.strictObject({
  source: name,
  model: z.string(),
  streamed: z.boolean(),
  startedMs: atMs,
  request: z.looseObject({ messages: z.array(z.looseObject({ role: z.string() })), stream: z.boolean() }).exactOptional(),
  deltas: z.array(delta),
  end,
});

/** A recording as it is in a file. */
export const recordingSchema = z.strictObject({
  format: z.literal(recordingFormat),
  version: z.literal(1),
  text: z.boolean(),
  sources: z.array(source),
  requests: z.array(request),
});
