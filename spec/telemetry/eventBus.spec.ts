import { describe, expect, test } from '@jest/globals';
import { config } from 'rxjs';
import type { GatewayEvent, GatewayEventBody } from '../../lib/model/events.js';
import { createEventBus } from '../../lib/telemetry/eventBus.js';

const started: GatewayEventBody = { type: 'call-started', callId: 'c1', scope: 'LLM' };

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

  test('a listener that throws breaks neither the report nor the other listeners, and RxJS reports its error', async () => {
    const unhandled: unknown[] = [];
    config.onUnhandledError = (error) => unhandled.push(error);
    const bus = createEventBus({ now: () => 0 });
    const seen: string[] = [];
    bus.events$.subscribe(() => {
      throw new Error('broken listener');
    });
    bus.events$.subscribe((event) => seen.push(event.type));
    expect(() => {
      bus.report(started);
      bus.report(started);
    }).not.toThrow();
    expect(seen).toEqual(['call-started', 'call-started']);
    await new Promise((resolve) => setTimeout(resolve, 20));
    config.onUnhandledError = null;
    expect(unhandled).toMatchObject([{ message: 'broken listener' }, { message: 'broken listener' }]);
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
