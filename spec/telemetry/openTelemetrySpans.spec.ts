import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, context, diag, metrics, propagation, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { lastValueFrom, map, take, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { createGateway } from '../../lib/index.js';
import type { ChatDelta, Gateway, Source } from '../../lib/index.js';
import { scriptedSource } from '../../lib/sources/scriptedSource.js';
import type { ScriptStep } from '../../lib/sources/scriptedSource.js';
import { asks, closeAfterTest, closeAll, gatewayTo, rejection, until, upstream } from '../gateway/scene.js';
import { forgetSdk, lengthMs, startSdk } from './openTelemetryScene.js';
import type { Sdk } from './openTelemetryScene.js';

const answer = 'd@0.01"one" d@0.03" two" u@0.03(7,5) f@0.04';
const { OK, ERROR, UNSET } = SpanStatusCode;

let sdk: Sdk;

beforeEach(() => {
  sdk = startSdk();
});

afterEach(async () => {
  await closeAll();
  await sdk.stop();
});

const isCall = ({ kind }: ReadableSpan): boolean => kind === SpanKind.INTERNAL;
const isAttempt = ({ kind }: ReadableSpan): boolean => kind === SpanKind.CLIENT;

/** The one span of the call and those of its attempts, in the order of their start; every one ended, and below its parent. */
function ofOneCall(): { call: ReadableSpan; attempts: ReadableSpan[] } {
  const spans = sdk.spans();
  const [call, ...others] = spans.filter(isCall);
  const attempts = spans.filter(isAttempt).sort((a, b) => Number(a.attributes['polygateway.attempt_id']?.toString().split('-').at(-1)) - Number(b.attributes['polygateway.attempt_id']?.toString().split('-').at(-1)));
  expect(others).toEqual([]);
  expect(sdk.open()).toBe(0);
  expect(new Set(spans.map((span) => span.spanContext().spanId)).size).toBe(spans.length);
  for (const attempt of attempts) {
    expect(attempt.parentSpanContext?.spanId).toBe(call?.spanContext().spanId);
    expect(attempt.spanContext().traceId).toBe(call?.spanContext().traceId);
  }
  return { call: call as ReadableSpan, attempts };
}

const cancelled = 'polygateway.cancelled';
const verdict = ({ status, attributes }: ReadableSpan): [SpanStatusCode, boolean] => [status.code, attributes[cancelled] === true];

describe('OT-01: whatever ends a call, its span and one of each sent attempt end once', () => {
  test('it is answered: both are ok, with the figures of model, usage and time', async () => {
    const a = await upstream([answer]);
    const { gateway } = gatewayTo([{ baseUrl: a.url, provider: 'mistral', model: 'm' }]);
    const host = trace.getTracer('host').startSpan('host');

    const { callId, latencyMs, ttftMs } = await context.with(trace.setSpan(context.active(), host), () => gateway.chat(asks('hello')));

    const { call, attempts } = ofOneCallBelow(host.spanContext().spanId);
    host.end();
    expect([call, ...attempts].map(verdict)).toEqual([[OK, false], [OK, false]]);
    expect(call).toMatchObject({ name: 'chat', attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.stream': true, 'polygateway.scope': 'LLM', 'polygateway.call_id': callId, 'polygateway.attempts': 1, 'polygateway.hedges': 0, 'polygateway.source': 'mistral/1' } });
    expect(attempts).toHaveLength(1);
    expect(attempts[0]).toMatchObject({
      name: 'chat m',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'mistral_ai',
        'gen_ai.request.model': 'm',
        'gen_ai.request.stream': true,
        'gen_ai.response.model': 'sim',
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.response.time_to_first_chunk': ttftMs! / 1000,
        'gen_ai.usage.input_tokens': 7,
        'gen_ai.usage.output_tokens': 5,
        'server.address': '127.0.0.1',
        'server.port': a.port,
        'polygateway.role': 'primary',
        'polygateway.round': 1,
        'polygateway.provider_request_id': 'req_chatcmpl-sim1',
        'polygateway.won': true,
        'polygateway.outcome': 'ok',
        'polygateway.stall_ms': 0,
        'polygateway.stall_count': 0,
        'polygateway.increments': 2,
      },
    });
    // The first span of a process is made by cold code; in virtual time both are the same.
    expect(Math.abs(lengthMs(attempts[0]!) - latencyMs)).toBeLessThan(100);
    expect(lengthMs(call)).toBeGreaterThanOrEqual(lengthMs(attempts[0]!));
  });

  test('the connection is reset in mid-stream: both are errors', async () => {
    const a = await upstream(['d@0.01"one" rst@0.02']);
    const { gateway } = gatewayTo([a.url], { maxAttempts: 1 });
    await rejection(gateway.chat(asks('hello')));
    const { call, attempts } = ofOneCall();
    expect(attempts.map(verdict)).toEqual([[ERROR, false]]);
    expect(attempts[0]!.attributes).toMatchObject({ 'error.type': 'transient', 'polygateway.increments': 1 });
    expect(attempts[0]!.status.message).toBe('transient');
    expect(call).toMatchObject({ status: { code: ERROR, message: 'all_sources_exhausted' }, attributes: { 'error.type': 'all_sources_exhausted' } });
  });

  test('an error whose words repeat the prompt leaves none of them in a span', async () => {
    const a = await upstream(['400@0.01("your prompt was flagged: my secret diary")']);
    const { gateway } = gatewayTo([a.url]);
    expect(await rejection(gateway.chat(asks('my secret diary')))).toMatchObject({ code: 'request', message: expect.stringContaining('diary') });
    const { call, attempts } = ofOneCall();
    expect(attempts[0]!.status).toEqual({ code: ERROR, message: 'request (HTTP 400)' });
    expect(JSON.stringify([call, ...attempts].map(({ attributes, status, events }) => [attributes, status, events]))).not.toContain('diary');
  });

  test('it is retried: an error, then an answer, and the wait between them is noted', async () => {
    const a = await upstream(['503@0.01', answer]);
    const { gateway } = gatewayTo([a.url]);
    await gateway.chat(asks('hello'));
    const { call, attempts } = ofOneCall();
    expect(attempts.map(verdict)).toEqual([[ERROR, false], [OK, false]]);
    expect(attempts[0]!.attributes).toMatchObject({ 'http.response.status_code': 503, 'polygateway.round': 1, 'polygateway.won': false });
    expect(attempts[1]!.attributes).toMatchObject({ 'polygateway.round': 2, 'polygateway.won': true });
    expect(call.events).toMatchObject([{ name: 'polygateway.retry', attributes: { 'polygateway.failure_class': 'transient', 'polygateway.delay_ms': 20 } }]);
    expect(verdict(call)).toEqual([OK, false]);
  });

  test.each([
    ['after two increments', 'd@0.01"one" d@0.02" two" hang', 2],
    ['before the headers', 'hang', 0],
  ])('the caller leaves %s: neither ok nor error', async (_when, script, increments) => {
    const a = await upstream([script]);
    const { gateway } = gatewayTo([a.url]);
    const subscription = gateway.chat$(asks('hello')).subscribe();
    await until(() => a.requests.length === 1 && (gateway.stats().streams[0]?.increments ?? 0) === increments, 'as far as that');
    subscription.unsubscribe();
    const { call, attempts } = ofOneCall();
    expect([call, ...attempts].map(verdict)).toEqual([[UNSET, true], [UNSET, true]]);
    expect(attempts[0]!.attributes).toMatchObject({ 'polygateway.outcome': 'caller_cancelled', 'polygateway.increments': increments });
    expect([call, ...attempts].map(({ attributes }) => attributes['error.type'])).toEqual([undefined, undefined]);
  });

  test('the caller leaves before anything was written: the span says that nothing was sent', async () => {
    const a = await upstream([answer]);
    const { gateway } = gatewayTo([a.url]);
    const subscription = gateway.chat$(asks('hello')).subscribe();
    gateway.events$.subscribe(({ type }) => { if (type === 'attempt-started') queueMicrotask(() => subscription.unsubscribe()); });
    await until(() => sdk.open() === 0 && sdk.spans().length > 0, 'it has left');
    const { call, attempts } = ofOneCall();
    expect([call, ...attempts].map(verdict)).toEqual([[UNSET, true], [UNSET, true]]);
    expect(attempts.map(({ attributes }) => attributes['polygateway.unsent'])).toEqual([true]);
    expect(a.requests).toEqual([]);
  });

  test('the deadline passes: both are errors', async () => {
    const a = await upstream(['d@0.01"one" hang']);
    const { gateway } = gatewayTo([a.url], { callDeadlineS: 0.1 });
    await rejection(gateway.chat(asks('hello')));
    const { call, attempts } = ofOneCall();
    expect([call, ...attempts].map(verdict)).toEqual([[ERROR, false], [ERROR, false]]);
    expect([call, ...attempts].map(({ attributes }) => attributes['error.type'])).toEqual(['call_deadline', 'deadline']);
  });

  test('a hedge: the winner is ok, the loser cancelled, and the backup links to the primary', async () => {
    const [a, b] = await Promise.all([upstream(['d@0.01"one" hang']), upstream([answer])]);
    const { gateway } = gatewayTo([a.url, b.url], { hedgeStallAfterS: 0.1 });
    await gateway.chat(asks('hello', { model: 'big' }));
    const { call, attempts } = ofOneCall();
    const [primary, backup] = attempts as [ReadableSpan, ReadableSpan];
    expect([call, primary, backup].map(verdict)).toEqual([[OK, false], [UNSET, true], [OK, false]]);
    expect([call, primary, backup].map(({ name }) => name)).toEqual(['chat big', 'chat big', 'chat big']);
    expect(primary.attributes).toMatchObject({ 'polygateway.outcome': 'hedge_cancelled', 'polygateway.won': false, 'polygateway.role': 'primary', 'polygateway.source': 'a/1' });
    expect(backup.attributes).toMatchObject({ 'polygateway.won': true, 'polygateway.role': 'backup', 'polygateway.source': 'b/1', 'polygateway.hedge.trigger': 'stall' });
    expect([primary, backup].map(({ links }) => links.map((link) => link.context.spanId))).toEqual([[], [primary.spanContext().spanId]]);
    expect(primary.events).toMatchObject([{ name: 'polygateway.silence', attributes: { 'polygateway.hedge.trigger': 'stall', 'polygateway.silent_ms': 100 } }]);
    expect(call.attributes).toMatchObject({ 'polygateway.attempts': 2, 'polygateway.hedges': 1, 'polygateway.hedge.won': true, 'polygateway.source': 'b/1' });
  });

  test('a hedge that is refused is noted on the primary, which goes on', async () => {
    const a = await upstream(['d@0.01"one" d@0.2" two" f@0.21']);
    const { gateway } = gatewayTo([a.url], { hedgeStallAfterS: 0.1 });
    await gateway.chat(asks('hello'));
    const { attempts } = ofOneCall();
    expect(attempts[0]!.events.map(({ name }) => name)).toEqual(['polygateway.silence', 'polygateway.hedge_refused']);
    expect(attempts[0]!.events[1]!.attributes).toMatchObject({ 'polygateway.gate': 'none-left' });
  });

  test('take(1), or an operator behind the call that throws: the call had been answered before, and is ok', async () => {
    const a = await upstream([answer]);
    const { gateway } = gatewayTo([a.url]);
    await new Promise<void>((resolve) => gateway.chat$(asks('hello')).pipe(take(1)).subscribe({ complete: resolve }));
    await new Promise<void>((resolve) => gateway.chat$(asks('hello')).pipe(map(() => { throw new Error('mine'); })).subscribe({ error: () => resolve() }));
    expect(sdk.open()).toBe(0);
    expect(sdk.spans().map(verdict)).toEqual([[OK, false], [OK, false], [OK, false], [OK, false]]);
  });

  test('of stream$, take(1), an operator behind it that throws, and a reader that leaves cancel both spans; an answer read to its end is ok', async () => {
    const a = await upstream([answer]);
    const { gateway } = gatewayTo([a.url]);
    const stream$ = gateway.stream$(asks('hello'));
    await new Promise<void>((resolve) => stream$.pipe(take(1)).subscribe({ complete: resolve }));
    await new Promise<void>((resolve) => stream$.pipe(map(() => { throw new Error('mine'); })).subscribe({ error: () => resolve() }));
    for await (const item of gateway.stream(asks('hello'))) if (item.type === 'content') break;
    expect(sdk.open()).toBe(0);
    expect(sdk.spans().map(verdict)).toEqual(Array(6).fill([UNSET, true]));
    await lastValueFrom(gateway.stream$(asks('hello')));
    expect(sdk.open()).toBe(0);
    expect(sdk.spans().slice(6).map(verdict)).toEqual([[OK, false], [OK, false]]);
  });

  test('of stream$, a break in mid-stream is an error of both spans', async () => {
    const a = await upstream(['d@0.01"one" rst@0.02']);
    const { gateway } = gatewayTo([a.url]);
    await new Promise<void>((resolve) => gateway.stream$(asks('hello')).subscribe({ error: () => resolve() }));
    const { call, attempts } = ofOneCall();
    expect([call, ...attempts].map(({ status }) => status)).toEqual([{ code: ERROR, message: 'stream_interrupted' }, { code: ERROR, message: 'transient' }]);
  });

  test('an operator in a source throws: an error', async () => {
    const source: Source = { id: 'mine/1', provider: 'mine', model: 'm', limits: {}, stream: () => timer(1).pipe(map((): ChatDelta => { throw new Error('not mine'); })) };
    const gateway = createGateway({ settings: { scope: 'LLM', sources: [] }, sources: [source], maxAttempts: 1 });
    closeAfterTest(gateway.close);
    await rejection(gateway.chat(asks('hello')));
    const { call, attempts } = ofOneCall();
    expect([call, ...attempts].map(verdict)).toEqual([[ERROR, false], [ERROR, false]]);
  });

  test('the gateway is closed: the call is an error, its attempt was nobody\'s fault', async () => {
    const a = await upstream(['d@0.01"one" hang']);
    const { gateway } = gatewayTo([a.url]);
    const ended = rejection(gateway.chat(asks('hello')));
    await until(() => gateway.stats().streams[0]?.increments === 1, 'it speaks');
    await gateway.close();
    await ended;
    const { call, attempts } = ofOneCall();
    expect([call, ...attempts].map(verdict)).toEqual([[ERROR, false], [UNSET, true]]);
  });

  function ofOneCallBelow(hostSpanId: string): ReturnType<typeof ofOneCall> {
    const [call] = sdk.spans().filter(isCall);
    expect(call?.parentSpanContext?.spanId).toBe(hostSpanId);
    expect(sdk.open()).toBe(1);
    return { call: call as ReadableSpan, attempts: sdk.spans().filter(isAttempt) };
  }
});

test('no prompt, no text and no key is in a span, whatever the source says of them', async () => {
  const key = 'sk-abcdefghijklmnopqrstuvwxyz012345';
  const a = await upstream([`401@0.01(invalid_api_key,"Incorrect API key provided: ${key}")`, 'd@0.01"the secret answer" f@0.02']);
  const b = await upstream(['d@0.01"the secret answer" f@0.02']);
  const { gateway } = gatewayTo([{ baseUrl: `${a.url}?api_key=${key}`, apiKey: key, headers: { 'x-team': 'blue' } }, b.url], { maxAttempts: 2 });
  await gateway.chat(asks('the secret question', { tags: { user: 'the secret name' } }));
  const careless: Source = { id: 'mine/1', provider: 'mine', model: 'm', limits: {}, stream: () => timer(1).pipe(map((): ChatDelta => { throw new Error(`the key is ${key}`); })) };
  const another = createGateway({ settings: { scope: 'LLM', sources: [] }, sources: [careless], maxAttempts: 1 });
  closeAfterTest(another.close);
  await rejection(another.chat(asks('the secret question')));
  const told = JSON.stringify(sdk.spans().map(({ name, attributes, events, status, links }) => ({ name, attributes, events, status, links })));
  expect(told).toContain('"error.type":"source"');
  expect(told).toContain('source (HTTP 401)');
  expect(told).not.toMatch(/secret|sk-abc|blue/);
});

test('in virtual time a span is as long as its attempt, and its dates are real', () => {
  const scheduler = new TestScheduler(() => undefined);
  const script: ScriptStep[] = [
    { atMs: 60_000, type: 'delta', delta: { type: 'content', text: 'one' } },
    { atMs: 3_600_000, type: 'delta', delta: { type: 'finish', reason: 'stop' } },
    { atMs: 3_600_000, type: 'end' },
  ];
  scheduler.run(() => {
    const source = scriptedSource({ id: 'a/1', scripts: [script], scheduler });
    const gateway = createGateway({ settings: { scope: 'LLM', sources: [] }, sources: [source], scheduler, telemetry: { write: () => undefined } });
    gateway.chat$(asks('hello')).subscribe();
  });
  const { call, attempts } = ofOneCall();
  expect(lengthMs(attempts[0]!)).toBe(3_600_000);
  expect(lengthMs(call)).toBeGreaterThanOrEqual(3_600_000);
  expect(Math.abs(call.startTime[0] - Date.now() / 1000)).toBeLessThan(60);
});

describe('a host whose OpenTelemetry', () => {
  const sources = (): Source[] => [scriptedSource({ id: 'a/1', scripts: [[{ atMs: 0, type: 'delta', delta: { type: 'content', text: 'one' } }, { atMs: 1, type: 'delta', delta: { type: 'finish', reason: 'stop' } }, { atMs: 1, type: 'end' }]] })];
  const open = (): Gateway => {
    const gateway = createGateway({ settings: { scope: 'LLM', sources: [] }, sources: sources() });
    closeAfterTest(gateway.close);
    return gateway;
  };

  test('is set up after the gateway was made gets spans and metrics of every later call', async () => {
    await sdk.stop();
    const gateway = open();
    await gateway.chat(asks('before'));
    sdk = startSdk();
    await gateway.chat(asks('after'));
    ofOneCall();
    expect(Object.keys(await sdk.points())).toContain('gen_ai.client.operation.duration');
  });

  test('throws wherever it can harms no call', async () => {
    await sdk.stop();
    const broken = (): never => { throw new Error('broken'); };
    const told: string[] = [];
    diag.setLogger({ error: (message) => told.push(message), warn: () => undefined, info: () => undefined, debug: () => undefined, verbose: () => undefined });
    const span = { spanContext: () => ({ traceId: '1'.repeat(32), spanId: '1'.repeat(16), traceFlags: 1 }), isRecording: () => true, setAttributes: broken, setStatus: broken, addEvent: broken, end: broken };
    try {
      for (const [tracer, active] of [[{ startSpan: broken }, () => ROOT_CONTEXT], [{ startSpan: () => span }, () => ROOT_CONTEXT], [{ startSpan: broken }, broken]] as const) {
        forgetSdk();
        trace.setGlobalTracerProvider({ getTracer: () => tracer as never });
        context.setGlobalContextManager({ active, with: broken, bind: broken, enable: broken, disable: () => undefined as never });
        propagation.setGlobalPropagator({ inject: broken, extract: broken, fields: () => [] });
        metrics.setGlobalMeterProvider({ getMeter: broken });
        const gateway = open();
        expect(await gateway.chat(asks('hello'))).toMatchObject({ content: 'one' });
        await gateway.close();
      }
      expect(new Set(told)).toEqual(new Set(['polygateway: tracing failed: broken']));
    } finally {
      diag.disable();
      forgetSdk();
      sdk = startSdk();
    }
  });
});

