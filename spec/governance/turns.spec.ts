import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { monotonicScheduler } from '../../lib/clock/monotonicScheduler.js';
import { AdmissionRefused } from '../../lib/governance/gate.js';
import type { Permit, Ticket } from '../../lib/governance/gate.js';
import { createRedisGovernance } from '../../lib/governance/redis/redisGovernance.js';
import { sharedRedisUrl } from '../support/redisServer.js';
import { patient, targetOf, ticket } from './holders.js';

const cancelled = { type: 'cancelled', totalTokens: null } as const;
const waits: Partial<Ticket> = { waits: true };

/** Processes of one scope with one source of two places, on a time that the test sets. */
interface Fleet {
  join(this: void): { ask(wish?: Partial<Ticket>): Promise<Permit | string> };
  advance(this: void, ms: number): void;
}

function fleet({ pollMs = 500 }: { pollMs?: number } = {}): Fleet {
  const scope = `turns-${randomUUID()}`;
  let nowMs = 1_700_000_000_000;
  return {
    advance: (ms) => { nowMs += ms; },
    join() {
      const governance = createRedisGovernance(
        { sources: [{ id: 'a/1', limits: {}, maxConcurrency: 2 }], breaker: patient, now: () => nowMs, random: () => 1, report: () => undefined },
        { target: targetOf(sharedRedisUrl()), scope, leaseTtlMs: 3_600_000, scheduler: monotonicScheduler, decisionLimitMs: 5000, pollMs, serverNow: () => nowMs },
      );
      joined.push(governance);
      return {
        ask: (wish = {}) =>
          firstValueFrom(governance.admission.enter({ ...ticket, ...wish })).catch((error: unknown) => {
            if (error instanceof AdmissionRefused) return error.message;
            throw error;
          }),
      };
    },
  };
}

const joined: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(joined.splice(0).map((governance) => governance.close()));
});

function held(answer: Permit | string): Permit {
  if (typeof answer === 'string') throw new Error(answer);
  return answer;
}

describe('places of a source, between processes', () => {
  test('B4: a process that has gone without clearly longer goes first, so that none starves', async () => {
    const { join, advance } = fleet();
    const [rich, poor] = [join(), join()];
    const first = held(await rich.ask());
    held(await rich.ask());
    expect(await poor.ask(waits)).toBe('a/1 runs 2 requests already');
    advance(1500);
    await poor.ask(waits);
    advance(1500);
    await poor.ask(waits);
    first.settle(cancelled);
    expect(await rich.ask(waits)).toBe('a/1 has room for 1 more, and 1 other processes have waited for it longer');
    advance(100);
    held(await poor.ask(waits)).settle(cancelled);
    held(await rich.ask(waits));
  });

  test('B4: nor does one that asks only every few seconds, as its settings say', async () => {
    const { join, advance } = fleet({ pollMs: 5000 });
    const [rich, poor] = [join(), join()];
    const first = held(await rich.ask());
    held(await rich.ask());
    // The poor one asks at 0 s and at 4.5 s, the rich one all the time from 3 s on.
    await poor.ask(waits);
    advance(3000);
    for (let atMs = 3000; atMs < 9000; atMs += 1500) {
      if (atMs === 4500) await poor.ask(waits);
      await rich.ask(waits);
      advance(1500);
    }
    first.settle(cancelled);
    expect(await rich.ask(waits)).toBe('a/1 has room for 1 more, and 1 other processes have waited for it longer');
  });

  test('as long as the waits are about the same, whoever asks first is let in', async () => {
    const { join, advance } = fleet();
    const [rich, poor] = [join(), join()];
    const first = held(await rich.ask());
    held(await rich.ask());
    await poor.ask(waits);
    advance(1500);
    first.settle(cancelled);
    held(await rich.ask(waits));
  });

  test.each([
    ['who has not asked for two seconds waits no more, or has died', waits, 2500],
    ['a backup takes no place in a line (H3)', { ...waits, waits: false, role: 'backup' as const }, 0],
    ['nor does a call that fails fast', {}, 0],
  ])('%s: no place is kept for it', async (_rule, wish, silentMs) => {
    const { join, advance } = fleet();
    const [rich, poor] = [join(), join()];
    const first = held(await rich.ask());
    held(await rich.ask());
    for (let asked = 0; asked < 4; asked += 1) {
      await poor.ask(wish);
      advance(1000);
    }
    advance(silentMs);
    first.settle(cancelled);
    held(await rich.ask(waits));
  });

  test('where there is room for all who wait, nobody is held back', async () => {
    const { join, advance } = fleet();
    const [rich, poor] = [join(), join()];
    const places = [held(await rich.ask()), held(await rich.ask())];
    for (let asked = 0; asked < 4; asked += 1) {
      await poor.ask(waits);
      advance(1000);
    }
    for (const place of places) place.settle(cancelled);
    held(await rich.ask(waits));
    held(await poor.ask(waits));
  });
});

describe('a no that is known', () => {
  test('R-X9: that there is no place is believed for 100 ms, by all who wait in this process', async () => {
    const { join, advance } = fleet();
    const [rich, poor] = [join(), join()];
    const first = held(await rich.ask());
    held(await rich.ask());
    await poor.ask(waits);
    first.settle(cancelled);
    // Heard in its order, so that the place is free by now.
    await rich.ask({ role: 'backup' }).then((answer) => { held(answer).settle(cancelled); });
    advance(99);
    expect(await poor.ask(waits)).toBe('a/1 runs 2 requests already');
    advance(1);
    held(await poor.ask(waits));
  });

  test('what this process gives back it believes at once', async () => {
    const only = fleet().join();
    const first = held(await only.ask());
    held(await only.ask());
    expect(await only.ask(waits)).toBe('a/1 runs 2 requests already');
    first.settle(cancelled);
    held(await only.ask(waits));
  });
});
