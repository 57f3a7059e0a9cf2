import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { firstValueFrom } from 'rxjs';
import { monotonicScheduler } from '../../lib/clock/monotonicScheduler.js';
import { AdmissionRefused } from '../../lib/governance/gate.js';
import type { Outcome, Permit } from '../../lib/governance/gate.js';
import type { Governance } from '../../lib/governance/governance.js';
import { createRedisGovernance } from '../../lib/governance/redis/redisGovernance.js';
import * as scripts from '../../lib/governance/redis/scripts.js';
import { sourceKeys } from '../../lib/governance/redis/sourceKeys.js';
import type { GatewayEventBody } from '../../lib/model/events.js';
import { startRedis } from '../support/redisServer.js';
import type { RedisServer } from '../support/redisServer.js';
import { until } from '../support/until.js';
import { patient, targetOf, ticket } from './holders.js';

const names = ['gpt', 'a{b', 'x}y', '{}', '', 'é', 'a:b', '\ud800', 'a/b', 'a%002fb', 'é0', '\u0e90'] as const;
const places = names.flatMap((scope) => names.map((sourceId) => [scope, sourceId] as const));

/** By the tag, that is what stands between the first `{` and the next `}`, where that is not nothing; else by the whole key. */
function slotOf(key: string): number {
  return crc16(/^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? key) % 16_384;
}

function crc16(text: string): number {
  let crc = 0;
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
  }
  return crc;
}

describe('the keys of a source', () => {
  test('RD-06: the slot in this spec is that of Redis', () => {
    // From the cluster specification of Redis, and from a server.
    expect(crc16('123456789')).toBe(0x31c3);
    expect(['foo', '{user1000}.following', 'foo{}{bar}', 'foo{{bar}}zap', 'foo{bar}{zap}'].map(slotOf)).toEqual([12_182, 3443, 8363, 4015, 5061]);
  });

  test.each(names)('RD-06: in scope %j lie in one slot, whatever the source is called', (scope) => {
    for (const sourceId of names) {
      const keys = sourceKeys(scope, sourceId);
      expect(new Set(keys.map(slotOf)).size).toBe(1);
      expect(keys.filter((key) => !/^polygateway:1:\{[\w.%-]*\/[\w.%-]*\}:[a-z]+$/.test(key))).toEqual([]);
    }
  });

  test('RD-06: no two sources, nor two scopes, share one', () => {
    const keys = places.flatMap(([scope, sourceId]) => sourceKeys(scope, sourceId));
    expect(keys).toHaveLength(9 * places.length);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('RD-06: nor do any others, whatever they are called', () => {
    const name = fc.oneof(fc.string({ unit: fc.constantFrom('{', '}', ':', '/', '%', '0', '2', 'f', 'a', '\ud83d', '\ude00') }), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(name, name, name, name, (scope, id, otherScope, otherId) => {
        const [keys, others] = [sourceKeys(scope, id), sourceKeys(otherScope, otherId)];
        expect(new Set(keys.map(slotOf)).size).toBe(1);
        expect(keys.some((key) => others.includes(key))).toBe(scope === otherScope && id === otherId);
      }),
    );
  });
});

describe('a script', () => {
  const keyNames = ['breakerKey', 'sourceKey', 'leasesKey', 'heldKey', 'windowKey', 'spendingKey', 'releasedKey', 'waitingKey', 'seenKey'];

  test.each(Object.entries(scripts))('RD-06: %s names no key but the nine that it is given', (_, lua) => {
    const code = lua.replace(/--.*$/gm, '');
    // One function of its own takes a key: it is given none but these.
    const kept = [...code.matchAll(/\bkeep\((\w+), /g)].map(([, key = '']) => key).filter((key) => key !== 'key');
    expect(kept.filter((key) => !keyNames.includes(key))).toEqual([]);
    const calls = [...code.matchAll(/redis\.p?call\('([A-Z]+)'(?:, (\w+)(?=[,)]))?/g)].map(([, command, key]) => ({ command, key }));
    const keys = calls.filter(({ command }) => command !== 'TIME').map(({ key }) => key);
    expect(keys.length).toBeGreaterThan(2);
    expect(keys.filter((key) => key === undefined || !keyNames.includes(key))).toEqual(['key', 'key']);
    // Nothing is called in another way, the keys are taken once, and none of their names is given to anything else.
    expect(code.match(/redis\b/g)).toHaveLength(calls.length);
    expect([...code.matchAll(/KEYS.*/g)].map(([text]) => text)).toEqual(['KEYS)']);
    expect(code).toContain(`local ${keyNames.join(', ')} = unpack(KEYS)\n`);
    expect([...code.matchAll(/\b(\w+Key)\b(?:, \w+)* = /g)].map(([, name]) => name)).toEqual([keyNames[0]]);
  });
});

interface Life {
  readonly governance: Governance & { close(): Promise<void> };
  readonly events: GatewayEventBody[];
  readonly advance: (ms: number) => void;
  readonly enter: () => Promise<Permit | AdmissionRefused>;
  readonly heard: () => Promise<void>;
}

/** The admission state of one source, in a time that the test sets. */
function openLife(url: string, scope: string, sourceId: string, { leaseTtlMs = 3_600_000, random = () => 1 } = {}): Life {
  const events: GatewayEventBody[] = [];
  let nowMs = 1_700_000_000_000;
  const now = (): number => nowMs;
  const governance = createRedisGovernance(
    {
      sources: [{ id: sourceId, limits: {}, maxConcurrency: 4, rpm: 20, tpm: 5000 }],
      breaker: { ...patient, failures: 2, cooldownMs: 1000, cooldownMaxMs: 5000 },
      now,
      random,
      report: (event) => events.push(event),
    },
    { target: targetOf(url), scope, leaseTtlMs, scheduler: monotonicScheduler, decisionLimitMs: 5000, windowMs: 60_000, serverNow: now },
  );
  return {
    governance,
    events,
    advance: (ms) => { nowMs += ms; },
    enter: () =>
      firstValueFrom(governance.admission.enter({ ...ticket, sourceId })).catch((error: unknown) => {
        if (error instanceof AdmissionRefused) return error;
        throw error;
      }),
    heard: async () => { await firstValueFrom(governance.progress.ageMs()); },
  };
}

async function admit({ enter }: Life): Promise<Permit> {
  const answer = await enter();
  if (answer instanceof AdmissionRefused) throw answer;
  return answer;
}

const outcomes: readonly Outcome[] = [
  { type: 'success', totalTokens: 70 },
  { type: 'rate-limited', totalTokens: null },
  { type: 'cancelled', totalTokens: null },
  { type: 'unsent' },
  { type: 'failure', totalTokens: null },
  { type: 'failure', totalTokens: null },
];

/** All that can happen to a source: every script runs, and most of what is in it. */
async function liveThrough(url: string, scope: string, sourceId: string): Promise<GatewayEventBody[]> {
  const life = openLife(url, scope, sourceId, { leaseTtlMs: 150 });
  const { governance, events, advance, enter, heard } = life;
  try {
    governance.admission.enter({ ...ticket, sourceId }).subscribe().unsubscribe();
    await heard();
    for (const outcome of outcomes) (await admit(life)).settle(outcome);
    await heard();
    expect(await enter()).toBeInstanceOf(AdmissionRefused);
    advance(1000);
    const probe = await admit(life);
    probe.progress();
    await heard();
    const renewedMs = monotonicScheduler.now() + 200;
    await until('the lease was renewed', () => Promise.resolve(monotonicScheduler.now() > renewedMs && probe.expired?.() === false));
    probe.settle({ type: 'success', totalTokens: 70 });
    governance.parking.park(sourceId, 500);
    await heard();
    advance(60_000);
    (await admit(life)).settle({ type: 'success', totalTokens: 5 });
    await heard();
  } finally {
    await governance.close();
  }
  return events;
}

describe('in a server', () => {
  let server: RedisServer;
  let admin: Redis;

  beforeAll(async () => {
    server = await startRedis();
    admin = new Redis(server.url);
  });

  afterAll(async () => {
    admin.disconnect();
    await server.stop();
  });

  const lives = names.map((name, at) => [names[(at + 3) % names.length]!, name] as const);

  test.each(lives)('RD-06: scope %j, source %j lives as a user who may touch its keys and no others', async (scope, sourceId) => {
    const tag = sourceKeys(scope, sourceId)[0]!.replace(/:breaker$/, '');
    await admin.call('ACL', 'SETUSER', 'one-source', 'reset', 'on', '>secret', `~${tag}:*`, '+@all');
    await admin.call('ACL', 'LOG', 'RESET');
    const url = `redis://one-source:secret@127.0.0.1:${server.port}`;
    const events = await liveThrough(url, scope, sourceId);
    expect(await admin.call('ACL', 'LOG')).toEqual([]);
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['breaker-changed', 'pace-changed']));
    const left = await admin.keys('*');
    expect(left.filter((key) => !key.startsWith(`${tag}:`))).toEqual([]);
    await admin.flushall();
  });

  test('RD-06: such a user is refused what a script takes beside its keys', async () => {
    const [key, other] = [sourceKeys('s', 'a')[0]!, sourceKeys('s', 'b')[0]!];
    await admin.call('ACL', 'SETUSER', 'one-source', 'reset', 'on', '>secret', `~${key}`, '+@all');
    const user = new Redis(`redis://one-source:secret@127.0.0.1:${server.port}`);
    try {
      expect(await user.eval('return redis.call("EXISTS", KEYS[1])', 1, key)).toBe(0);
      await expect(user.eval(`return redis.call("EXISTS", "${other}")`, 1, key)).rejects.toThrow(/can't|NOPERM|ACL/i);
    } finally {
      user.disconnect();
    }
  });

  test('RD-06: of every command that a script gives and every key that it is given, all lie in one slot', async () => {
    const monitor = await admin.monitor();
    const said: string[][] = [];
    monitor.on('monitor', (_time: string, args: string[]) => said.push(args));
    try {
      await liveThrough(server.url, 'x}y', 'a{b');
      await until('the monitor has told it all', () => Promise.resolve(said.filter(([name]) => /^eval/i.test(name!)).length > 10));
    } finally {
      monitor.disconnect();
    }
    const keys = new Set(sourceKeys('x}y', 'a{b'));
    const runs = said.filter(([name]) => /^eval/i.test(name!));
    expect(runs.map((args) => args.slice(3, 3 + Number(args[2])))).toEqual(runs.map(() => [...keys]));
    const inside = said.filter(([name]) => !/^(?:eval|evalsha|info|select|client|hello|auth|ping|time)$/i.test(name!));
    expect(inside.length).toBeGreaterThan(50);
    expect(inside.filter(([, key]) => !keys.has(key!))).toEqual([]);
  });

  test('R-X6: in any life every key that is there ends by itself, also where some have ended before their time', async () => {
    const step = fc.constantFrom('enter', 'enter', 'enter', 'leave', 'progress', 'settle', 'settle', 'settle', 'park', 'wait', 'lose');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(step, fc.nat(1000)), { minLength: 50, maxLength: 150 }), async (steps) => {
        await admin.flushall();
        const life = openLife(server.url, 'LLM', 'a/1');
        const keys = sourceKeys('LLM', 'a/1');
        const permits: Permit[] = [];
        try {
          for (const [what, number] of steps) {
            const permit = permits[number % Math.max(1, permits.length)];
            if (what === 'enter') {
              const answer = await life.enter();
              if (!(answer instanceof AdmissionRefused)) permits.push(answer);
            }
            if (what === 'leave') life.governance.admission.enter({ ...ticket }).subscribe({ error: () => undefined }).unsubscribe();
            if (what === 'progress') permit?.progress();
            if (what === 'settle') permit?.settle(outcomes[number % outcomes.length]!);
            if (what === 'park') life.governance.parking.park('a/1', number);
            if (what === 'wait') life.advance(number * 50);
            // What has ended or was evicted meanwhile.
            if (what === 'lose') await admin.del(keys[number % keys.length]!);
            await life.heard();
            expect(await withoutEnd(admin)).toEqual([]);
          }
        } finally {
          await life.governance.close();
        }
        expect(await withoutEnd(admin)).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });
});

async function withoutEnd(admin: Redis): Promise<string[]> {
  const keys = await admin.keys('*');
  const leftMs = await Promise.all(keys.map((key) => admin.pttl(key)));
  return keys.filter((_, at) => leftMs[at] === -1);
}
