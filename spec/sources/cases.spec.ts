import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { inspect } from 'node:util';
import { TimeoutError, lastValueFrom, map, timeout, toArray } from 'rxjs';
import { TransientError, isGatewayError } from '../../lib/model/errors.js';
import { createFold } from '../../lib/model/fold.js';
import { parseRequest } from '../../lib/model/request.js';
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

/** Drives one case through the HTTP source and the fold, with the limits of the case in the engine's place. */
async function drive(wireCase: WireCase): Promise<WireResult> {
  const { timeouts = {}, stream, model, n, logprobs } = wireCase.request;
  const fold = createFold('attempt');
  try {
    const valid = parseRequest({ messages: [{ role: 'user', content: 'hi' }], stream, model, n, logprobs });
    const source = createHttpSource({
      id: 'case/1',
      provider: 'case',
      baseUrl: server.baseUrl(wireCase),
      apiKey: 'sk-case-0123456789abcdef',
      model: 'm-test',
      connectTimeoutMs: 2000,
      client,
    });
    const first = timeouts.first_token_ms ?? timeouts.headers_ms ?? 20_000;
    const answer$ = source.stream(valid, { attemptId: 'attempt' }).pipe(
      map((delta) => fold.add(delta)),
      timeout({ first, each: timeouts.idle_ms ?? 20_000 }),
      toArray(),
    );
    await lastValueFrom(answer$);
  } catch (thrown) {
    const { content, reasoning, toolCalls } = fold.answer();
    return { outcome: 'error', ...errorFacts(thrown), partial: { content, reasoning, toolCalls }, increments: fold.increments };
  }
  const answer = fold.answer();
  const increments = wireCase.request.stream ? fold.increments : null;
  return { outcome: 'ok', ...answer, messageCalls: answer.message.tool_calls ?? [], increments };
}

type ErrorFacts = Pick<Extract<WireResult, { outcome: 'error' }>, 'failureClass' | 'message' | 'shown' | 'httpStatus' | 'retryAfterS'>;

function errorFacts(thrown: unknown): ErrorFacts {
  const error = thrown instanceof TimeoutError ? new TransientError('a limit has passed') : thrown;
  if (!isGatewayError(error)) throw thrown;
  const { code, message, httpStatus, retryAfterS } = error;
  return { failureClass: code, message, shown: inspect(error, { depth: 10 }), httpStatus, retryAfterS };
}

describe('wire cases, chat completions', () => {
  test.each(cases.map((wireCase) => [wireCase.id, wireCase.kind, wireCase] as const))('%s (%s)', async (_id, _kind, wireCase) => {
    expectVerdict(wireCase, await drive(wireCase));
  });
});
