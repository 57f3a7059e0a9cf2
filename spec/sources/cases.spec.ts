import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { inspect } from 'node:util';
import { TimeoutError, lastValueFrom, map, timeout } from 'rxjs';
import { createGateway } from '../../lib/assemble/createGateway.js';
import { AllSourcesExhausted, TransientError, isGatewayError } from '../../lib/model/errors.js';
import { createFold } from '../../lib/model/fold.js';
import { parseRequest } from '../../lib/model/request.js';
import type { SourceLimits } from '../../lib/model/source.js';
import { createHttpClient } from '../../lib/sources/httpBytes.js';
import type { HttpClient } from '../../lib/sources/httpBytes.js';
import { createHttpSource } from '../../lib/sources/httpSource.js';
import { startReplayServer } from '../support/replayServer.js';
import type { ReplayServer } from '../support/replayServer.js';
import { wireCases } from '../support/wireCases.js';
import type { WireCase } from '../support/wireCases.js';
import { expectVerdict } from '../support/wireVerdict.js';
import type { WireResult } from '../support/wireVerdict.js';

const cases = wireCases('chat/completions');
const rowsOf = (those: readonly WireCase[]): [string, string, WireCase][] => those.map((wireCase) => [wireCase.id, wireCase.kind, wireCase]);
const isH2 = ({ response }: WireCase): boolean => response.transport === 'h2';
let server: ReplayServer;
let client: HttpClient;

beforeAll(async () => {
  server = await startReplayServer(cases);
  client = createHttpClient({ ca: server.ca, allowH2: true });
});

afterAll(async () => {
  await client.close();
  await server.close();
});

const messages = [{ role: 'user', content: 'hi' }];

function sourceOf(wireCase: WireCase, limits: SourceLimits = {}): ReturnType<typeof createHttpSource> {
  const baseUrl = server.baseUrl(wireCase);
  return createHttpSource({ id: 'case/1', provider: 'case', baseUrl, apiKey: 'sk-case-0123456789abcdef', model: 'm-test', connectTimeoutMs: 2000, client, ...limits });
}

/** Through the HTTP source and the fold, with the limits of the case in the engine's place: what had come before a failure is seen. */
async function throughSource(wireCase: WireCase): Promise<WireResult> {
  const { timeouts = {}, stream, model, n, logprobs } = wireCase.request;
  const fold = createFold('attempt');
  try {
    const request = parseRequest({ messages, stream, model, n, logprobs });
    const first = timeouts.first_token_ms ?? timeouts.headers_ms ?? 20_000;
    const folded$ = sourceOf(wireCase)
      .stream(request, { attemptId: 'attempt' })
      .pipe(map((delta) => fold.add(delta)), timeout({ first, each: timeouts.idle_ms ?? 20_000 }));
    await lastValueFrom(folded$, { defaultValue: undefined });
  } catch (thrown) {
    const { content, reasoning, toolCalls } = fold.answer();
    const error = thrown instanceof TimeoutError ? new TransientError('a limit has passed') : thrown;
    return { outcome: 'error', ...errorFacts(error), partial: { content, reasoning, toolCalls }, increments: fold.increments };
  }
  const answer = fold.answer();
  return { outcome: 'ok', ...answer, messageCalls: answer.message.tool_calls ?? [], increments: stream ? fold.increments : null };
}

/** As an application does it: the limits of the case are the source's, and a failure comes as the cause of what the call throws. */
async function throughGateway(wireCase: WireCase): Promise<WireResult> {
  const { timeouts = {}, stream, model, n, logprobs } = wireCase.request;
  const source = sourceOf(wireCase, {
    timeoutMs: 20_000,
    ttftTimeoutMs: timeouts.first_token_ms ?? timeouts.headers_ms ?? 20_000,
    interTokenTimeoutMs: timeouts.idle_ms ?? 20_000,
  });
  const gateway = createGateway({ settings: { scope: 'LLM', sources: [] }, sources: [source], maxAttempts: 1, backpressure: 'fail_fast' });
  try {
    const answer = await lastValueFrom(gateway.chat$({ messages, stream, model, ...(n === undefined ? {} : { n }), logprobs }));
    return { outcome: 'ok', ...answer, messageCalls: answer.message.tool_calls ?? [] };
  } catch (thrown) {
    const error = thrown instanceof AllSourcesExhausted ? thrown.cause : thrown;
    return { outcome: 'error', ...errorFacts(error), increments: isGatewayError(error) ? error.partial?.increments : undefined };
  } finally {
    await gateway.close();
  }
}

type ErrorFacts = Pick<Extract<WireResult, { outcome: 'error' }>, 'failureClass' | 'message' | 'shown' | 'httpStatus' | 'retryAfterS'>;

function errorFacts(error: unknown): ErrorFacts {
  if (!isGatewayError(error)) throw error;
  const { code, message, httpStatus, retryAfterS } = error;
  return { failureClass: code, message, shown: inspect(error, { depth: 10 }), httpStatus, retryAfterS };
}

describe.each([
  ['through the source', throughSource],
  ['through the gateway', throughGateway],
])('wire cases, chat completions, %s', (_way, drive) => {
  const verdict = async (_id: string, _kind: string, wireCase: WireCase): Promise<void> => expectVerdict(wireCase, await drive(wireCase));

  test.concurrent.each(rowsOf(cases.filter((wireCase) => !isH2(wireCase))))('%s (%s)', verdict);
  // They would share a connection, which one of them ends.
  test.each(rowsOf(cases.filter(isH2)))('%s (%s)', verdict);
});
