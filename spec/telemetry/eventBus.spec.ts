import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { config, filter, map } from 'rxjs';
import type { Observable } from 'rxjs';
import type { GatewayEvent, GatewayEventBody } from '../../lib/model/events.js';
import { createEventBus } from '../../lib/telemetry/eventBus.js';

const started: GatewayEventBody = { type: 'call-started', callId: 'c1', scope: 'LLM', operation: 'chat', model: null, streamed: true };

function boom(): never {
  throw new Error('broken listener');
}

describe('the event bus', () => {
  test('stamps the time and tells every listener; without one it does not even look at the clock', () => {
    let reads = 0;
    const bus = createEventBus({ now: () => (reads += 1) });
    bus.report(started);
    expect(reads).toBe(0);

    const seen: GatewayEvent[] = [];
    bus.events$.subscribe((event) => seen.push(event));
    bus.events$.subscribe((event) => seen.push(event));
    bus.report(started);
    expect(seen).toEqual([{ atMs: 1, ...started }, { atMs: 1, ...started }]);
  });

  describe('a listener that throws harms nothing', () => {
    const ways: [string, (events$: Observable<GatewayEvent>) => unknown][] = [
      ['a function', (events$) => events$.subscribe(boom)],
      ['an observer', (events$) => events$.subscribe({ next: boom })],
      ['behind operators', (events$) => events$.pipe(filter(({ type }) => type === 'call-started'), map(({ type }) => type)).subscribe(boom)],
      ['an operator, without an error handler', (events$) => events$.pipe(map(boom)).subscribe(() => undefined)],
      ['an error handler', (events$) => events$.pipe(map(boom)).subscribe({ error: boom })],
      ['at completion', (events$) => events$.subscribe({ complete: boom })],
    ];
    for (const [name, listen] of ways) {
      test(`${name}: the report returns, the others hear everything, one error is told, none is uncaught`, async () => {
        const told: unknown[] = [];
        const uncaught: unknown[] = [];
        config.onUnhandledError = (error) => uncaught.push(error);
        try {
          const bus = createEventBus({ now: () => 0, onListenerError: (error) => told.push(error) });
          const seen: string[] = [];
          listen(bus.events$);
          bus.events$.subscribe((event) => seen.push(event.type));
          bus.report(started);
          bus.report(started);
          bus.close();
          await new Promise((resolve) => setTimeout(resolve, 20));
          expect(seen).toEqual(['call-started', 'call-started']);
          expect(uncaught).toEqual([]);
          expect(told).toMatchObject([{ message: 'broken listener' }]);
        } finally {
          config.onUnhandledError = null;
        }
      });
    }

    test('and goes on hearing; an error handler of its own gets what its operators throw', () => {
      const bus = createEventBus({ now: () => 0 });
      const heard: unknown[] = [];
      bus.events$.subscribe((event) => {
        heard.push(event.type);
        throw new Error('broken listener');
      });
      bus.events$.pipe(map(boom)).subscribe({ error: (error: unknown) => heard.push(error) });
      bus.report(started);
      bus.report(started);
      expect(heard).toEqual(['call-started', expect.objectContaining({ message: 'broken listener' }), 'call-started']);
    });
  });

  test('a process whose listener throws gets a warning, and goes on', async () => {
    const script = `
      import { createEventBus } from ${JSON.stringify(new URL('../../dist/telemetry/eventBus.js', import.meta.url).href)};
      const bus = createEventBus({ now: () => 0 });
      bus.events$.subscribe(() => { throw new Error('broken listener'); });
      bus.report({ type: 'telemetry-trouble', message: '', lost: 0 });
      setTimeout(() => console.log('alive'), 20);`;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
    expect(stdout).toBe('alive\n');
    expect(stderr).toMatch(/\[POLYGATEWAY_LISTENER\] PolygatewayWarning: a listener of events\$ threw: broken listener[^]*\n\s+at /);
  });

  test('report does not throw when the clock does', () => {
    const bus = createEventBus({
      now: () => {
        throw new Error('no clock');
      },
    });
    bus.events$.subscribe();
    expect(() => bus.report(started)).not.toThrow();
  });

  test('the three functions of the older way to subscribe are all called', () => {
    const bus = createEventBus({ now: () => 0 });
    const seen: string[] = [];
    /* eslint-disable @typescript-eslint/no-deprecated, rxjs-x/prefer-observer -- it is what is tested */
    bus.events$.subscribe(({ type }) => seen.push(type), null, () => seen.push('complete'));
    bus.events$.pipe(map(boom)).subscribe(null, (error: unknown) => seen.push(String(error)));
    /* eslint-enable @typescript-eslint/no-deprecated, rxjs-x/prefer-observer */
    bus.report(started);
    bus.close();
    expect(seen).toEqual(['call-started', 'Error: broken listener', 'complete']);
  });

  test('close completes the listeners and ends reporting; the Subject is not handed out', () => {
    const bus = createEventBus({ now: () => 0 });
    const seen: string[] = [];
    bus.events$.subscribe({ next: ({ type }) => seen.push(type), complete: () => seen.push('complete') });
    expect(bus.events$).not.toHaveProperty('next');
    bus.close();
    bus.report(started);
    expect(seen).toEqual(['complete']);
  });
});
