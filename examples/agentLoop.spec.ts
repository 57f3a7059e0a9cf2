import { describe, expect, test } from '@jest/globals';
import { NEVER, map, of, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { z } from 'zod';
import { defineTool } from 'polygateway';
import type { ChatMessage, ToolCallOf } from 'polygateway';
import { like, marbles, toolCall, usage } from 'polygateway/testing';
import { ToolError, agentLoop } from './agentLoop.js';

const weather = defineTool({ name: 'weather', description: 'The weather of a city', parameters: z.object({ city: z.string() }) });
const add = defineTool({ name: 'add', parameters: z.object({ numbers: z.array(z.number()) }) });
const tools = [weather, add];
type Call = ToolCallOf<(typeof tools)[number]>;

const question: ChatMessage = { role: 'user', content: 'Do I need an umbrella?' };

const w = toolCall('weather', { city: 'Oslo' });
const s = toolCall('add', { numbers: [1, 2] }, { index: 1 });

describe('agentLoop', () => {
  test('tools run side by side, and their results are sent back until the model calls none', marbles(({ testGateway, cold, expectObservable, expectSubscriptions, expectSockets, afterwards }) => {
    const gateway = testGateway({ sources: { llm: ['-w-s-(u|)', '--a--(u|)'] }, values: { w, s, u: usage(10, 5) } });
    const forecast$ = cold('       -----f|             ', { f: { rain: true } });
    const sum$ = cold('            ---r|               ', { r: 3 });
    const sockets = [
      '                            ^----!              ',
      '                            ----------^----!    ',
    ];
    const forecastSub = '          -----^----!         ';
    const sumSub = '               -----^--!           ';
    const expected = '             -----w----r----(a|) ';

    const run = (call: Call): typeof forecast$ | typeof sum$ => (call.name === 'weather' ? forecast$ : sum$);
    expectObservable(agentLoop(gateway, [question], { tools, run })).toBe(expected, {
      w: like({ type: 'wants-tools', turn: 1, netMs: 5, tokens: 15 }),
      r: like({ type: 'ran-tools', turn: 1, results: [{ tool_call_id: 'call_0', content: '{"rain":true}' }, { tool_call_id: 'call_1', content: '3' }] }),
      a: like({ type: 'answered', turn: 2, netMs: 10, tokens: 30, response: { content: 'a' } }),
    });
    expectSockets(gateway, { llm: sockets });
    expectSubscriptions(forecast$.subscriptions).toBe(forecastSub);
    expectSubscriptions(sum$.subscriptions).toBe(sumSub);
    afterwards(() => {
      const [, second] = gateway.sources.llm.requests;
      expect(second?.request.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool']);
      expect(second?.request.tools).toEqual([weather.definition, add.definition]);
    });
  }));

  test('what goes wrong with a tool is told to the model, in the order of its calls', marbles(({ testGateway, cold, expectObservable }) => {
    const x = toolCall('wether', { city: 'Oslo' }, { index: 1 });
    const y = toolCall('add', { numbers: '1 and 2' }, { index: 2 });
    const gateway = testGateway({ sources: { llm: ['-w-x-y-|', '--a-|'] }, values: { w, x, y } });
    const broken$ = cold('         ---#', {}, new ToolError('There is no such city.'));
    const expected = '             -------w--r---(a|)';

    expectObservable(agentLoop(gateway, [question], { tools, run: () => broken$ })).toBe(expected, {
      w: like({ type: 'wants-tools' }),
      r: like({ type: 'ran-tools', results: [{ tool_call_id: 'call_0', content: 'There is no such city.' }, { tool_call_id: 'call_1' }, { tool_call_id: 'call_2' }] }),
      a: like({ type: 'answered' }),
    });
  }));

  test.each([
    ['an error that was not made for it', throwError(() => new Error('no route to postgres://me:secret@db')), '---(wr)(a|)', 'The tool failed.'],
    ['an error that is none', throwError((): unknown => Object.create(null)), '                       ---(wr)(a|)', 'The tool failed.'],
    ['a result that has no JSON', of(1n), '                                               ---(wr)(a|)', 'The tool failed.'],
    ['a tool that takes too long', NEVER, '                                              ---w----r---(a|)', 'The tool took longer than 5 ms.'],
  ])('of %s the model learns no more than that', (_what, result$: Observable<unknown>, expected, content) => {
    marbles(({ testGateway, expectObservable }) => {
      const gateway = testGateway({ sources: { llm: ['-w-|', '--a-|'] }, values: { w } });

      expectObservable(agentLoop(gateway, [question], { tools, run: () => result$, toolTimeoutMs: 5 })).toBe(expected, {
        w: like({ type: 'wants-tools' }),
        r: like({ type: 'ran-tools', results: [{ tool_call_id: 'call_0', content }] }),
        a: like({ type: 'answered' }),
      });
    })();
  });

  test('arguments whose check throws are told to the model too', marbles(({ testGateway, expectObservable }) => {
    const open = defineTool({ name: 'open', parameters: z.object({ url: z.string().transform((url) => new URL(url)) }) });
    const gateway = testGateway({ sources: { llm: ['-o-|', '--a-|'] }, values: { o: toolCall('open', { url: 'nope' }) } });
    const expected = '             ---(wr)(a|)';

    expectObservable(agentLoop(gateway, [question], { tools: [open], run: () => of('opened') }).pipe(map(({ type }) => type))).toBe(expected, {
      w: 'wants-tools', r: 'ran-tools', a: 'answered',
    });
  }));

  test('no more tools run at once than allowed, with arguments of the schema\'s type', marbles(({ testGateway, cold, expectObservable, expectSubscriptions }) => {
    const values = { s: toolCall('add', { numbers: [1, 2] }), t: toolCall('add', { numbers: [3, 4] }, { index: 1 }) };
    const gateway = testGateway({ sources: { llm: ['-s-t|', '--a-|'] }, values });
    const sum$ = cold('            --r|              ', { r: 3 });
    const sumSubs = [
      '                            ----^-!           ',
      '                            ------^-!         ',
    ];
    const expected = '             ----w---r---(a|)  ';

    const run = ({ args }: ToolCallOf<typeof add>): typeof sum$ => (args.numbers.length === 2 ? sum$ : cold('#'));
    expectObservable(agentLoop(gateway, [question], { tools: [add], run, concurrency: 1 }).pipe(map(({ type }) => type))).toBe(expected, {
      w: 'wants-tools', r: 'ran-tools', a: 'answered',
    });
    expectSubscriptions(sum$.subscriptions).toBe(sumSubs);
  }));

  test('it ends after maxTurns, says so, and leaves what can be gone on with', marbles(({ testGateway, cold, expectObservable, expectSubscriptions }) => {
    const gateway = testGateway({ sources: { llm: '-w-|' }, values: { w } });
    const sunny$ = cold('          ---f|        ');
    const sunnySub = '             ---^--!      ';
    const expected = '             ---w--r--(o|)';

    expectObservable(agentLoop(gateway, [question], { tools, run: () => sunny$, maxTurns: 2 })).toBe(expected, {
      w: like({ type: 'wants-tools', turn: 1, messages: [question] }),
      r: like({ type: 'ran-tools', turn: 1, messages: [question, { role: 'assistant' }, { role: 'tool' }] }),
      o: like({ type: 'out-of-turns', turn: 2, messages: [question, { role: 'assistant' }, { role: 'tool' }], response: { toolCalls: [{ name: 'weather' }] } }),
    });
    expectSubscriptions(sunny$.subscriptions).toBe(sunnySub);
  }));

  test('a model that fails ends it, after the steps before', marbles(({ testGateway, cold, expectObservable }) => {
    const gateway = testGateway({ sources: { llm: ['-w-|', '-#'] }, values: { w }, settings: { maxAttempts: 1 } });
    const sunny$ = cold('          ---f|   ');
    const expected = '             ---w--r#';

    expectObservable(agentLoop(gateway, [question], { tools, run: () => sunny$ }).pipe(map(({ type }) => type))).toBe(
      expected,
      { w: 'wants-tools', r: 'ran-tools' },
      like({ code: 'all_sources_exhausted' }),
    );
  }));

  test('unsubscribing stops the tools that run, or the socket', marbles(({ testGateway, cold, expectObservable, expectSubscriptions, expectSockets }) => {
    const gateway = testGateway({ sources: { llm: '-w-|' }, values: { w } });
    const slow$ = cold('           -----------f|');
    const duringTool = '           -----!       ';
    const toolSub = '              ---^-!       ';
    const duringModel = '          --!          ';
    const sockets = [
      '                            ^--!         ',
      '                            ^-!          ',
    ];

    const loop$ = agentLoop(gateway, [question], { tools, run: () => slow$ }).pipe(map(({ type }) => type));
    expectObservable(loop$, duringTool).toBe('---w', { w: 'wants-tools' });
    expectObservable(loop$, duringModel).toBe('');
    expectSubscriptions(slow$.subscriptions).toBe(toolSub);
    expectSockets(gateway, { llm: sockets });
  }));
});
