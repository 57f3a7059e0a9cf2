import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { EMPTY, NEVER, Observable, asyncScheduler, concat, defer, lastValueFrom, materialize, mergeMap, of, scheduled, takeUntil, throwError, timer, toArray } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { RateLimitedError, TransientError, createGateway, isOutput } from '../../lib/index.js';
import type { ChatDelta, ChatResponse, Source, StreamContext, ValidRequest } from '../../lib/index.js';
import { compareMarbles, createRecorder, marbles, parseRecording, readRecording, replay, scriptedSource, stringifyRecording } from '../../lib/testing/index.js';
import type { RecordedRequest, Recorder, Recording, TestGateway } from '../../lib/testing/index.js';
import type { ScriptStep } from '../../lib/sources/scriptedSource.js';
import { closeAll, gatewayTo, upstream } from '../gateway/scene.js';
import { problemsOf } from '../config/problemsOf.js';

jest.setTimeout(30_000);

const folder = mkdtempSync(join(tmpdir(), 'polygateway-recorder-'));
const key = 'sk-planted-4f3a9b1c7d2e8f60';
const request: ValidRequest = { messages: [{ role: 'user', content: 'a prompt with pineapple' }], stream: true };
const context: StreamContext = { attemptId: 'x' };
/** What the recorded call was hedged by. */
const settings = { hedgeStallAfterS: 0.4, stallThresholdMs: 150, backoffS: 0.02 };
const words = ['pineapple', 'apricot', 'banana', 'cherry', 'date ', 'elderberry', 'fig', 'grape'];

/** Two recorders, one around the other, of one call over sockets: its first attempt fails, the second falls silent and loses to the third. */
let response: ChatResponse;
const recorder = createRecorder({ request: true });
const mute = createRecorder({ text: false });

beforeAll(async () => {
  const [first, silent] = await Promise.all([
    upstream([`503@0.02(overloaded,"apricot is not served, nor is ${key}")`, 'open@0.02 r@0.05"cherry" d@0.1"date " d@0.35"elderberry" g(look_up_fig)@0.4"{\\"grape\\":1}" f(tool_calls)@0.42 u(7,3)']),
    upstream(['open@0.02 d@0.05"banana" hang']),
  ]);
  const { gateway } = gatewayTo([first, silent].map(({ url }) => ({ baseUrl: url, apiKey: key })), {
    ...settings,
    wrapSource: (source, on) => mute.wrapSource(recorder.wrapSource(source, on), on),
  });
  response = await gateway.chat(request);
});

afterAll(async () => {
  await closeAll();
  rmSync(folder, { recursive: true });
});

/** Asks a recording in virtual time. */
function replayed(recording: Recording, thresholds = settings, sources?: readonly Source[]): { response: ChatResponse; gateway: TestGateway } {
  const responses: ChatResponse[] = [];
  let asked: TestGateway | undefined;
  marbles(({ testGateway, testScheduler }) => {
    asked = testGateway({ sources: sources ?? replay(recording, { scheduler: testScheduler }), settings: thresholds });
    asked.chat$(request).subscribe((given) => responses.push(given));
  })();
  const [whole] = responses;
  if (whole === undefined || asked === undefined) throw new Error('there was no answer');
  return { response: whole, gateway: asked };
}

type Figures = Readonly<Record<'ttftMs' | 'latencyMs' | 'maxInterTokenMs' | 'stallMs' | 'generationMs', number | null>>;

function figuresOf({ ttftMs, latencyMs, maxInterTokenMs, stats: { stallMs, generationMs } }: ChatResponse): Figures {
  return { ttftMs, latencyMs, maxInterTokenMs, stallMs, generationMs };
}

/** What the figures of a recorded request have to be. */
function figuresIn({ deltas, end }: RecordedRequest): Figures {
  const times = deltas.filter((delta) => isOutput(delta) && delta.sameFrame !== true).map(({ atMs }) => atMs);
  const gaps = times.slice(1).map((atMs, at) => atMs - (times[at] ?? NaN));
  const stallMs = gaps.filter((gapMs) => gapMs > settings.stallThresholdMs).reduce((sum, gapMs) => sum + gapMs, 0);
  return { ttftMs: times[0] ?? null, latencyMs: end.atMs, maxInterTokenMs: Math.max(...gaps), stallMs, generationMs: end.atMs - stallMs };
}

/** How far two answers' figures are from each other at most. */
function apart(one: ChatResponse, other: ChatResponse): number {
  const others = Object.values(figuresOf(other));
  return Math.max(...Object.values(figuresOf(one)).map((figure, at) => Math.abs((figure ?? NaN) - (others[at] ?? NaN))));
}

// A busy machine needs its time from a note to the engine's own look at the clock, a few lines later.
const noiseMs = 150;

describe('a hedged call over sockets', () => {
  test('is recorded with the attempt that failed, the loser where it was left, and the winner', () => {
    const { version, text, sources, requests } = recorder.recording;
    expect({ version, text, ids: sources.map(({ id, limits }) => [id, limits.ttftTimeoutMs]) }).toEqual({ version: 1, text: true, ids: [['a/1', 120_000], ['b/1', 120_000]] });
    expect(requests).toMatchObject([
      { source: 'a/1', model: 'm', streamed: true, startedMs: 0, request, deltas: [], end: { type: 'failed', error: { name: 'TransientError', code: 'transient', httpStatus: 503 } } },
      { source: 'b/1', deltas: [{ type: 'facts' }, { type: 'content', text: 'banana' }], end: { type: 'left' } },
      { source: 'a/1', end: { type: 'completed' } },
    ]);
    const [, loser, winner] = requests;
    expect(winner?.startedMs).toBeGreaterThanOrEqual((loser?.startedMs ?? 0) + 400);
    const [leftMs, completedMs] = [loser, winner].map((request) => (request?.startedMs ?? 0) + (request?.end.atMs ?? 0));
    // Both are rounded.
    expect(leftMs).toBeGreaterThanOrEqual((completedMs ?? 0) - 1);
  });

  test('comes out the same in virtual time: answer, winner, hedge and figures', () => {
    const { response: again, gateway } = replayed(recorder.recording);
    const { content, reasoning, toolCalls, finishReason, usage, increments, source, stats: { hedges, hedgeWon, attempts } } = response;
    expect(content).toBe('date elderberry');
    expect(again).toMatchObject({ content, reasoning, toolCalls, finishReason, usage, increments, source, stats: { hedges, hedgeWon, attempts } });
    expect([hedges, hedgeWon, attempts]).toEqual([1, true, 3]);
    expect(figuresOf(again)).toEqual(figuresIn(recorder.recording.requests[2]!));
    expect(apart(again, response)).toBeLessThanOrEqual(noiseMs);
    expect(gateway.rows.map(({ errorClass }) => errorClass)).toEqual(['transient', 'hedge_cancelled', null]);
    expect(gateway.sources['b/1']?.subscriptions).toEqual([expect.objectContaining({ unsubscribedFrame: gateway.calls[0]?.endedMs })]);
  });

  test('can be asked with another threshold: the loser stays silent where it was left', () => {
    const { response: later } = replayed(recorder.recording, { ...settings, hedgeStallAfterS: 60 });
    expect(later).toMatchObject({ content: 'date elderberry', source: 'a/1', stats: { hedges: 1, hedgeWon: true } });
    expect(later.callMs - replayed(recorder.recording).response.callMs).toBe(59_600);
  });

  test('is the same after it was in a file, which has one delta a line and no key', () => {
    const file = join(folder, 'new folder', 'call.json');
    recorder.save(file);
    expect(readRecording(file)).toEqual(recorder.recording);
    const written = readFileSync(file, 'utf8');
    expect(written.split('\n').filter((line) => line.includes('elderberry'))).toEqual([expect.stringMatching(/^ {8}\{"atMs":\d+,"type":"content","text":"elderberry"\},$/)]);
    expect(written).not.toContain(key);
  });

  test('without its text it tells none of the words, and comes out in the same times and lengths', () => {
    const written = stringifyRecording(mute.recording);
    expect(words.filter((word) => !stringifyRecording(recorder.recording).includes(word))).toEqual([]);
    expect(words.filter((word) => written.includes(word))).toEqual([]);
    expect(written).not.toContain('req_');
    const parsed = parseRecording(written);
    // RxJS's own scheduler is virtual within a marble test.
    const { response: again } = replayed(parsed, settings, replay(parsed));
    const { source, increments, usage, finishReason } = response;
    expect(again).toMatchObject({ content: 'x'.repeat(response.content.length), reasoning: 'xxxxxx', source, increments, usage, finishReason });
    expect(again.toolCalls).toEqual(response.toolCalls.map((call) => ({ id: 'x'.repeat(call.id.length - 1) + '0', name: 'x'.repeat(call.name.length), arguments: 'x'.repeat(call.arguments.length) })));
    expect(figuresOf(again)).toEqual(figuresIn(mute.recording.requests[2]!));
  });
});

interface Scene {
  readonly scheduler: TestScheduler;
  readonly source: Source;
  /** When the subscriber leaves. */
  readonly leftMs: number;
}

/** What a subscriber sees, and when. */
function timeline({ scheduler, source, leftMs }: Scene): unknown[] {
  const seen: unknown[] = [];
  source.stream(request, context).pipe(materialize(), takeUntil(timer(leftMs, scheduler))).subscribe((given) => {
    seen.push([scheduler.now(), given.kind === 'E' ? told(given.error) : given]);
  });
  scheduler.flush();
  return seen;
}

/** What tells errors apart: jest sees neither name nor code. */
function told(error: unknown): unknown {
  const { name, code, message, retryable, httpStatus, retryAfterS, cause } = error as TransientError;
  return { name, code, message, retryable, httpStatus, retryAfterS, cause: cause === undefined ? undefined : told(cause) };
}

function endless(): TestScheduler {
  const scheduler = new TestScheduler(compareMarbles);
  scheduler.maxFrames = Infinity;
  return scheduler;
}

const text = fc.string();
const said = fc.oneof(
  fc.record({ type: fc.constantFrom('content' as const, 'reasoning' as const, 'refusal' as const), text }),
  fc.record({ type: fc.constant('tool-call' as const), index: fc.nat(3), id: text, name: text, arguments: text }, { requiredKeys: ['type', 'index', 'arguments'] }),
  fc.nat(99).map((count) => ({ type: 'usage' as const, usage: { promptTokens: count, completionTokens: count, totalTokens: null, reasoningTokens: null, cachedTokens: null } })),
  fc.record({ type: fc.constant('finish' as const), reason: fc.constantFrom('stop', 'length') }),
  text.map((token) => ({ type: 'logprobs' as const, logprobs: { content: [{ token, bytes: [104, 105] }] } })),
  text.map((piece) => ({ type: 'message-extra' as const, fields: { reasoning_content: piece } })),
  fc.record({ type: fc.constant('facts' as const), model: fc.constant('m'), providerRequestId: text }, { requiredKeys: ['type'] }),
);
const deltas = fc.tuple(said, fc.boolean()).map(([delta, sameFrame]): ChatDelta => (sameFrame ? { ...delta, sameFrame } : delta));
const gaps = fc.oneof(fc.constant(0), fc.nat(50), fc.nat(200_000));
const failure = new RateLimitedError('too many', { httpStatus: 429, retryAfterS: 7, cause: Object.assign(new Error('because'), { code: 'ECONNRESET' }) });
const ends = fc.constantFrom<((atMs: number) => ScriptStep[])[]>((atMs) => [{ atMs, type: 'end' }], (atMs) => [{ atMs, type: 'error', error: failure }], () => []);
const scripts = fc.tuple(fc.array(fc.tuple(gaps, deltas), { maxLength: 12 }), gaps, ends).map(([pieces, lastGapMs, end]) => {
  let atMs = 0;
  const steps = pieces.map(([gapMs, delta]): ScriptStep => ({ atMs: (atMs += gapMs), type: 'delta', delta }));
  return [...steps, ...end(atMs + lastGapMs)];
});

/** Length and kind of a delta, and nothing else. */
function shape(delta: ChatDelta): unknown {
  const { type, sameFrame } = delta;
  const length = 'text' in delta ? delta.text.length : 'arguments' in delta ? [delta.index, delta.id?.length, delta.name?.length, delta.arguments.length] : 0;
  return { type, sameFrame, length, output: isOutput(delta) };
}

test('property: whatever a source says, however it ends or is left, its replay has exactly the same timeline; without text, the same shape', () => {
  fc.assert(
    fc.property(scripts, fc.oneof(fc.constant(1e9), fc.nat(500_000)), (steps, leftMs) => {
      const [whole, blank, scheduler, again] = [createRecorder(), createRecorder({ text: false }), endless(), endless()];
      const source = blank.wrapSource(whole.wrapSource(scriptedSource({ steps }, { id: 'a', scheduler }), { scheduler }), { scheduler });
      const original = timeline({ scheduler, source, leftMs });
      const [copy] = replay(parseRecording(stringifyRecording(whole.recording)), { scheduler: again });
      if (copy === undefined) throw new Error('there is no source');
      expect(timeline({ scheduler: again, source: copy, leftMs })).toEqual(original);

      const [loud, quiet] = [whole, blank].map(({ recording }) => recording.requests[0]?.deltas ?? []);
      expect(quiet?.map(({ atMs, ...delta }) => [atMs, shape(delta)])).toEqual(loud?.map(({ atMs, ...delta }) => [atMs, shape(delta)]));
      for (const delta of quiet ?? []) expect('text' in delta ? delta.text : '').toMatch(/^x*$/);
    }),
    { numRuns: 60 },
  );
});

describe('replay', () => {
  const broken: Recording = {
    version: 1,
    text: true,
    sources: [{ id: 'a', provider: 'a', model: 'm', limits: { timeoutMs: 300_000 }, weight: 2 }, { id: 'b', provider: 'b', model: 'm', limits: {} }],
    requests: [
      { source: 'a', model: 'm', streamed: true, startedMs: 0, deltas: [{ atMs: 1, type: 'content', text: 'one' }], end: { type: 'completed', atMs: 2 } },
      { source: 'a', model: 'm', streamed: true, startedMs: 9, deltas: [], end: { type: 'failed', atMs: 3, error: { name: 'SourceError', code: 'source', message: 'no credit', httpStatus: 402 } } },
    ],
  };

  test('answers request by request as then; one more than were recorded is refused and not repeated, and a source that was not asked has none', marbles(({ testScheduler, afterwards }) => {
    const [a, b] = replay(broken, { scheduler: testScheduler });
    const seen: unknown[] = [];
    for (const source of [a, a, a, b]) source?.stream(request, context).subscribe({ error: (error: unknown) => seen.push(told(error)) });
    afterwards(() => {
      expect(a).toMatchObject({ id: 'a', weight: 2, limits: { timeoutMs: 300_000 } });
      expect(seen).toMatchObject([
        { code: 'request', message: 'the recording holds 2 requests to a, and this is one more: record it anew, or ask as often as then' },
        { code: 'request', message: expect.stringContaining('holds 0 requests to b') },
        { name: 'SourceError', code: 'source', message: 'no credit', httpStatus: 402 },
      ]);
      expect(a?.subscriptions.map(({ unsubscribedFrame }) => unsubscribedFrame)).toEqual([2, 3, 0]);
    });
  }));

  test('plays in real time, and faster if told to', async () => {
    const [slow] = replay({ ...broken, requests: [{ ...broken.requests[0]!, end: { type: 'completed', atMs: 30_000 } }] }, { speed: 1000 });
    const startMs = performance.now();
    expect(await lastValueFrom(slow!.stream(request, context).pipe(toArray()))).toEqual([{ type: 'content', text: 'one' }]);
    expect(performance.now() - startMs).toBeGreaterThan(25);
    expect(performance.now() - startMs).toBeLessThan(10_000);
    expect(problemsOf(() => replay(broken, { speed: 0 }))).toEqual([expect.stringContaining('speed: 0, which must be a number above 0')]);
  });
});

describe('recording', () => {
  const upstreamOf = (stream: Source['stream']): Source => ({ id: 'a', provider: 'a', model: 'm', limits: {}, stream });

  test('passes the very same deltas and context on, in the same turn', () => {
    const given: unknown[] = [];
    const delta: ChatDelta = { type: 'content', text: 'one' };
    const wrapped = recorderOf(upstreamOf((asked, within) => { given.push(asked, within); return of(delta); }));
    const seen: unknown[] = [];
    wrapped.source.stream(request, context).subscribe({ next: (value) => seen.push(value), complete: () => seen.push('end') });
    expect(seen[0]).toBe(delta);
    expect(seen[1]).toBe('end');
    expect(given[0]).toBe(request);
    expect(given[1]).toBe(context);
  });

  test('what goes wrong in it never reaches the call, and is told by the recording', () => {
    const poisoned = { type: 'content', get text(): string { throw new Error('unreadable'); } } as ChatDelta;
    const wrapped = recorderOf(upstreamOf(() => of(poisoned, poisoned)));
    const seen: string[] = [];
    wrapped.source.stream(request, context).pipe(materialize()).subscribe(({ kind }) => seen.push(kind));
    expect(seen).toEqual(['N', 'N', 'C']);
    expect(() => wrapped.recorder.recording).toThrow('the recording is not complete: unreadable');
  });

  test('notes a source that throws, whatever it throws, and a request that still runs', () => {
    const answers: Source['stream'][] = [() => { throw new TypeError('at once'); }, () => new Observable<never>((reader) => reader.error('a text')), () => throwError(() => new TransientError('down', { providerRequestId: 'r' })), () => NEVER, () => EMPTY];
    const wrapped = recorderOf(upstreamOf((asked, within) => (answers.shift() ?? (() => NEVER))(asked, within)));
    for (let nth = 0; nth < 5; nth += 1) wrapped.source.stream(request, context).subscribe({ error: () => undefined });
    expect(wrapped.recorder.recording.requests.map(({ end }) => end)).toMatchObject([
      { type: 'failed', error: { name: 'TypeError', message: 'at once' } },
      { type: 'failed', error: { name: 'Error', message: 'a text' } },
      { type: 'failed', error: { name: 'TransientError', code: 'transient', message: 'down', providerRequestId: 'r' } },
      { type: 'open' },
      { type: 'completed' },
    ]);
  });

  test('without its text, whatever a custom source says or throws tells nothing, and can be read again', () => {
    const figures = { promptTokens: 1, completionTokens: 2, totalTokens: 3, reasoningTokens: null, cachedTokens: null };
    const usage = { ...figures, note: 'pineapple' };
    const cause = Object.assign(new Error('fig'), { name: 'A banana', code: 'cherry and grape' });
    const failure = Object.assign(new Error('fig', { cause }), { name: 'apricot', code: 'ECONNRESET' });
    const says = [{ type: 'audio', data: 'pineapple' }, { type: 'usage', usage }, { type: 'finish', reason: 'because of a fig' }, { type: 'content', text: 'fig' }] as ChatDelta[];
    const [loud, quiet] = [createRecorder(), createRecorder({ text: false })];
    const source = quiet.wrapSource(loud.wrapSource(upstreamOf(() => concat(says, throwError(() => failure)))));
    source.stream(request, context).subscribe({ error: () => undefined });

    const written = stringifyRecording(quiet.recording);
    expect(words.filter((word) => written.includes(word.trim()))).toEqual([]);
    expect(parseRecording(written).requests[0]).toMatchObject({
      deltas: [{ type: 'usage', usage: figures }, { type: 'finish', reason: 'xxxxxxxxxxxxxxxx' }, { type: 'content', text: 'xxx' }],
      end: { type: 'failed', error: { name: 'Error', code: 'ECONNRESET', message: 'xxx', cause: { name: 'Error', message: 'xxx' } } },
    });
    expect(parseRecording(stringifyRecording(loud.recording)).requests[0]).toMatchObject({ deltas: [{ usage }, { reason: 'because of a fig' }, { text: 'fig' }], end: { error: { name: 'apricot' } } });
  });

  test('is what its file says: a copy that no later change reaches, with clocks that step back, endless waits and big integers', () => {
    const clock = { nowMs: 5_000 };
    const scheduler = { now: () => clock.nowMs, schedule: asyncScheduler.schedule.bind(asyncScheduler) };
    const [usage, logprobs, asked] = [{ promptTokens: 1, completionTokens: 2, totalTokens: 3, reasoningTokens: null, cachedTokens: null }, { content: [{ id: 7n }] }, { messages: [...request.messages], stream: true }];
    const made = createRecorder({ request: true });
    const says: ChatDelta[] = [{ type: 'usage', usage }, { type: 'logprobs', logprobs }];
    const source = made.wrapSource({ ...upstreamOf(() => concat(says, defer(() => { clock.nowMs -= 60; return throwError(() => new RateLimitedError('later', { retryAfterS: Infinity })); }))), limits: { timeoutMs: Infinity } }, { scheduler });
    for (let nth = 0; nth < 2; nth += 1) source.stream(asked, context).subscribe({ error: () => undefined });
    const file = join(folder, 'odd.json');
    made.save(file);
    usage.promptTokens = 99;
    asked.messages.length = 0;
    logprobs.content.length = 0;

    expect(made.recording).toEqual(readRecording(file));
    expect(made.recording.sources[0]?.limits).toEqual({});
    const { requests } = made.recording;
    expect(requests.map(({ startedMs, end, request: kept }) => [startedMs, end.atMs, kept])).toEqual([[0, 0, request], [0, 0, request]]);
    expect(requests[0]).toMatchObject({ deltas: [{ usage: { promptTokens: 1 } }, { logprobs: { content: [{ id: '7' }] } }], end: { error: { code: 'rate_limited', message: 'later' } } });
  });

  test('masks what looks like a key in what was asked and in messages of errors', () => {
    const made = createRecorder({ request: true });
    const source = made.wrapSource(upstreamOf(() => throwError(() => new Error(`refused ${key}`))));
    const headers = { Authorization: 'Bearer abcdefgh', 'X-Api-Key': 'plain-words' };
    source.stream({ ...request, extra_headers: headers }, context).subscribe({ error: () => undefined });
    const written = stringifyRecording(made.recording);
    for (const secret of [key, 'abcdefgh', 'plain-words']) expect(written).not.toContain(secret);
    expect(made.recording.requests[0]?.request).toMatchObject({ ...request, extra_headers: { 'X-Api-Key': '[masked]' } });
  });

  test('keeps the last requests where it is told how many, with times from the first that is kept', () => {
    const scheduler = endless();
    const made = createRecorder({ maxRequests: 2 });
    const source = made.wrapSource(scriptedSource('-a|', { id: 'a', scheduler }), { scheduler });
    for (const startMs of [0, 10, 25]) timer(startMs, scheduler).pipe(mergeMap(() => source.stream(request, context))).subscribe();
    scheduler.flush();
    expect(made.recording.requests.map(({ startedMs, end }) => [startedMs, end])).toEqual([[0, { type: 'completed', atMs: 2 }], [15, { type: 'completed', atMs: 2 }]]);
    expect(problemsOf(() => createRecorder({ maxRequests: 0 }))).toEqual([expect.stringContaining('maxRequests: 0, which must be a whole number from 1')]);
  });

  test('refuses a second source of the same id, so that gateways do not mix', () => {
    const made = createRecorder();
    made.wrapSource(upstreamOf(() => EMPTY));
    expect(problemsOf(() => made.wrapSource({ ...upstreamOf(() => EMPTY), model: 'm2' }))).toEqual(['the recorder has a source "a" already, and would mix the requests of both: make a recorder for each gateway']);
    expect(made.recording.sources).toMatchObject([{ id: 'a', model: 'm' }]);
  });

  test('takes a source that is written as a class with getters, and so does every wrapper that spreads', async () => {
    class Local implements Source {
      readonly #facts = { id: 'local', provider: 'own', model: 'm', limits: { timeoutMs: 1_000 }, rpm: 60 };
      get id(): string { return this.#facts.id; }
      get provider(): string { return this.#facts.provider; }
      get model(): string { return this.#facts.model; }
      get limits(): Source['limits'] { return this.#facts.limits; }
      get rpm(): number { return this.#facts.rpm; }
      stream(): Observable<ChatDelta> {
        return scheduled<ChatDelta>([{ type: 'content', text: this.#facts.id }, { type: 'finish', reason: 'stop' }], asyncScheduler);
      }
    }
    const made = createRecorder();
    expect(made.wrapSource(new Local())).toMatchObject({ id: 'local', limits: { timeoutMs: 1_000 }, rpm: 60 });
    const spreads = (source: Source): Source => ({ ...source, stream: (asked, within) => source.stream(asked, within) });
    for (const wrapSource of [createRecorder().wrapSource, spreads, (source: Source) => source]) {
      const gateway = createGateway({ settings: { scope: 'LLM', sources: [] }, sources: [new Local()], wrapSource });
      try {
        expect(await gateway.chat(request)).toMatchObject({ content: 'local', source: 'local' });
      } finally {
        await gateway.close();
      }
    }
  });

  test('cannot keep what was asked and hide what was said', () => {
    expect(problemsOf(() => createRecorder({ request: true, text: false }))).toEqual([expect.stringContaining('leave one of them out')]);
    expect(stringifyRecording(recorderOf(upstreamOf(() => EMPTY)).recorder.recording)).not.toContain('pineapple');
  });
});

function recorderOf(source: Source): { recorder: Recorder; source: Source } {
  const made = createRecorder();
  return { recorder: made, source: made.wrapSource(source) };
}

describe('a file that is no recording is refused with its name, the field and what to do', () => {
  const file = join(folder, 'broken.json');
  const refusal = (written: string): readonly string[] => {
    writeFileSync(file, written);
    return problemsOf(() => readRecording(file));
  };

  test.each<[string, (good: string) => string, string]>([
    ['half of it', (good) => good.slice(0, -40), 'is not JSON: '],
    ['another JSON', () => '{"name":"x"}', 'is no recording, since it does not say "format": "polygateway-recording"; name another file, or record it anew'],
    ['a later version', (good) => good.replace('"version": 1', '"version": 2'), 'is of version 2, and this polygateway reads version 1: update polygateway, or record it anew'],
    ['a field that is missing', (good) => good.replace('"text":"banana"', '"txet":"banana"'), 'cannot be replayed: requests[1].deltas[1].text: Invalid input: expected string, received undefined. Correct it, or record it anew'],
    ['a type that is not known', (good) => good.replace('"type":"facts"', '"type":"fact"'), `requests[1].deltas[0].type: Invalid discriminator value. Expected 'content' | 'reasoning'`],
    ['a field too many', (good) => good.replace('"streamed": true', '"streamed": true, "stream": true'), 'requests[0]: Unrecognized key: "stream"'],
    ['a time that goes back', (good) => good.replace(/"atMs":\d+,"type":"content","text":"elderberry"/, '"atMs":1,"type":"content","text":"elderberry"'), 'requests[2].deltas[4].atMs: 1 is earlier than '],
    ['a source that is not there', (good) => good.replace('"source": "b/1"', '"source": "c/1"'), 'requests[1].source: "c/1" is not among the sources'],
    ['a source that is there twice', (good) => good.replace('"id":"b/1"', '"id":"a/1"'), 'sources[1].id: "a/1" is there twice'],
  ])('%s', (_what, spoil, expected) => {
    const good = stringifyRecording(recorder.recording);
    expect(spoil(good)).not.toBe(good);
    const [problem] = refusal(spoil(good));
    expect(problem).toContain(file);
    expect(problem).toContain(expected);
  });

  test('no file at all', () => {
    expect(problemsOf(() => readRecording(join(folder, 'none.json')))).toEqual([expect.stringMatching(/none\.json cannot be read: ENOENT.+; make it with createRecorder\(\)\.save\(file\), or by polygateway chat --record$/)]);
  });
});
