import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { SpanKind, context, propagation, trace } from '@opentelemetry/api';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defer, firstValueFrom, map, timer } from 'rxjs';
import { createEmbedding, createGateway, createOcr } from '../../lib/index.js';
import type { ChatDelta, ScopeOptions, Source, StreamContext } from '../../lib/index.js';
import { asks, closeAfterTest, closeAll, gatewayTo, upstream } from '../gateway/scene.js';
import { startJsonServer } from '../support/jsonServer.js';
import { startSdk } from './openTelemetryScene.js';
import type { Sdk } from './openTelemetryScene.js';

const answer = 'd@0.01"one" f@0.02';

let sdk: Sdk;
let instrumentation: UndiciInstrumentation;

beforeEach(() => {
  sdk = startSdk();
  instrumentation = new UndiciInstrumentation();
  instrumentation.enable();
});

afterEach(async () => {
  await closeAll();
  instrumentation.disable();
  await sdk.stop();
});

/** As most hosts have it: a span, and baggage that is nobody else's business. */
function inHost<T>(work: () => T): T {
  const host = trace.getTracer('host').startSpan('host');
  const baggage = propagation.createBaggage({ user: { value: 'ann' } });
  try {
    return context.with(propagation.setBaggage(trace.setSpan(context.active(), host), baggage), work);
  } finally {
    host.end();
  }
}

/** Headers as they were on the wire, in order, every one of them. */
async function rawServer(body: unknown): Promise<{ origin: string; rawHeaders: [string, string][][] }> {
  const rawHeaders: [string, string][][] = [];
  const server = createServer((request, response) => {
    const { rawHeaders: raw } = request;
    rawHeaders.push(raw.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), raw[i + 1] ?? ''] as [string, string]] : [])));
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end(JSON.stringify(body)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAfterTest(() => { server.closeAllConnections(); server.close(); });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, rawHeaders };
}

const attemptSpans = (): ReadableSpan[] => sdk.spans().filter(({ kind, instrumentationScope }) => kind === SpanKind.CLIENT && instrumentationScope.name === 'polygateway');
const traceparentOf = (span: ReadableSpan): string => `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`;

const document = {
  chat: { id: 'c', model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: 'one' }, finish_reason: 'stop' }] },
  embedding: { model: 'm', data: [{ index: 0, embedding: [1] }] },
  ocr: { model: 'm', pages: [{ index: 0, markdown: 'one' }] },
};

const scopeOf = (scope: string, origin: string, more: object = {}): ScopeOptions<never> => ({ settings: { scope, sources: [{ provider: 'a', baseUrl: `${origin}/v1`, model: 'm', ...more }] } });

async function askOnce(kind: keyof typeof document, options: ScopeOptions<never>): Promise<void> {
  switch (kind) {
    case 'chat': {
      const gateway = createGateway(options);
      closeAfterTest(gateway.close);
      await gateway.chat(asks('hello', { stream: false }));
      return;
    }
    case 'embedding': {
      const embedding = createEmbedding(options);
      closeAfterTest(embedding.close);
      await embedding.embed({ input: ['hello'] });
      return;
    }
    case 'ocr': {
      const ocr = createOcr(options);
      closeAfterTest(ocr.close);
      await firstValueFrom(ocr.ocr$({ document: { type: 'document_url', document_url: 'https://example.com/a.pdf' } }));
      return;
    }
    default:
      return kind satisfies never;
  }
}

describe('a request over HTTP, with the usual instrumentation of undici at work', () => {
  test.each(['chat', 'embedding', 'ocr'] as const)('%s: carries exactly one traceparent, which is the attempt\'s, and no baggage; nothing else makes a span of it', async (kind) => {
    const { origin, rawHeaders } = await rawServer(document[kind]);
    await inHost(() => askOnce(kind, scopeOf(kind === 'chat' ? 'LLM' : kind.toUpperCase(), origin)));
    expect(rawHeaders).toHaveLength(1);
    expect(attemptSpans()).toHaveLength(1);
    expect(rawHeaders[0]!.filter(([name]) => /^(traceparent|tracestate|baggage)$/.test(name))).toEqual([['traceparent', traceparentOf(attemptSpans()[0]!)]]);
    expect(sdk.spans().map(({ instrumentationScope }) => instrumentationScope.name).sort()).toEqual(['host', 'polygateway', 'polygateway']);
  });

  test('attempts of a hedged call carry one each, their own', async () => {
    const [a, b] = await Promise.all([upstream(['d@0.01"one" hang']), upstream([answer])]);
    const { gateway } = gatewayTo([a.url, b.url], { hedgeStallAfterS: 0.1 });
    await gateway.chat(asks('hello'));
    const bySource = new Map(attemptSpans().map((span) => [span.attributes['polygateway.source'], traceparentOf(span)]));
    expect([a, b].map(({ requests }) => requests.map(({ headers }) => headers['traceparent']))).toEqual([[bySource.get('a/1')], [bySource.get('b/1')]]);
  });

  test('a header that the settings set goes first', async () => {
    const { origin, rawHeaders } = await rawServer(document.chat);
    await inHost(() => askOnce('chat', scopeOf('LLM', origin, { headers: { TraceParent: 'mine' } })));
    expect(rawHeaders[0]!.filter(([name]) => name === 'traceparent')).toEqual([['traceparent', 'mine']]);
  });

  test('TELEMETRY__PROPAGATE=false: carries nothing, and is traced all the same', async () => {
    const { origin, rawHeaders } = await rawServer(document.chat);
    await inHost(() => askOnce('chat', { ...scopeOf('LLM', origin), telemetryPropagate: false }));
    expect(rawHeaders[0]!.filter(([name]) => /^(traceparent|tracestate|baggage)$/.test(name))).toEqual([]);
    expect(attemptSpans()).toHaveLength(1);
  });

  test('other requests of the host go on being traced, also from a handler that runs when the answer comes', async () => {
    const other = await startJsonServer((response) => response.end('{}'));
    closeAfterTest(() => other.close());
    const { origin } = await rawServer(document.chat);
    const { gateway } = gatewayTo([`${origin}/v1`]);
    for (const ask of [1, 2]) {
      await new Promise((resolve, reject) => {
        gateway.chat$(asks('hello', { stream: false })).subscribe({
          complete: () => {
            trace.getTracer('host').startSpan(`handler ${ask}`).end();
            fetch(other.origin, { method: 'POST', body: '{}' }).then(resolve, reject);
          },
          error: reject,
        });
      });
    }
    expect(other.requests.map(({ headers }) => typeof headers['traceparent'])).toEqual(['string', 'string']);
    expect(sdk.spans().filter(({ name }) => name.startsWith('handler')).map(({ name }) => name)).toEqual(['handler 1', 'handler 2']);
  });
});

describe('a source of the application\'s own', () => {
  test('is subscribed in the attempt\'s context, whoever ended the turn before, without the caller\'s baggage', async () => {
    const seen: { span: string | undefined; baggage: unknown; headers: unknown }[] = [];
    const note = ({ trace: carrier }: StreamContext): void => {
      const active = context.active();
      seen.push({ span: trace.getSpan(active)?.spanContext().spanId, baggage: propagation.getBaggage(active), headers: carrier?.headers });
    };
    let asked = 0;
    const stream: Source['stream'] = (_request, given) =>
      defer(() => {
        note(given);
        asked += 1;
        if (asked === 1) return timer(1).pipe(map((): ChatDelta => { throw new Error('again'); }));
        return timer(1).pipe(map((): ChatDelta => ({ type: 'content', text: 'one' })));
      });
    const source: Source = { id: 'mine/1', provider: 'mine', model: 'm', limits: {}, stream };
    const gateway = createGateway({ settings: { scope: 'LLM', sources: [] }, sources: [source], backoffS: 0.01 });
    closeAfterTest(gateway.close);
    await inHost(() => gateway.chat(asks('hello')));
    expect(seen).toEqual(attemptSpans().map((span) => ({ span: span.spanContext().spanId, baggage: undefined, headers: { traceparent: traceparentOf(span) } })));
    expect(seen).toHaveLength(2);
  });
});
