import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { startProcess, startSource } from './fleet.js';
import type { FleetRedis, Process } from './fleet.js';
import type { Visit } from './usage.js';

export interface HammerOptions {
  readonly scope: string;
  readonly limits: { readonly rpm?: number; readonly tpm?: number; readonly maxConcurrency?: number };
  /** The minute of the governors; default: a real one. */
  readonly windowMs?: number;
  readonly forMs: number;
  readonly callers?: number;
  readonly serviceMs?: readonly [number, number];
  readonly maxTokens?: number;
  /** Of `maxTokens`, what an answer uses, at least and at most. */
  readonly usedShare?: readonly [number, number];
  /** One process each. */
  readonly clocks?: readonly (object | undefined)[];
}

/** What a process of callers tells. */
export interface CallersTold {
  readonly answered: number;
  readonly failures: Readonly<Record<string, number>>;
  readonly waitsMs: readonly number[];
}

export interface Hammered {
  readonly visits: readonly Visit[];
  readonly nowMs: number;
  readonly told: readonly CallersTold[];
  /** Mean number of leases, once the callers had got going. */
  readonly meanHeld: number;
}

const fourProcesses = [undefined, undefined, undefined, undefined];

/** Processes over one scope, each with callers who call all the time; then what their source saw. */
export async function hammer({ server, look }: FleetRedis, options: HammerOptions): Promise<Hammered> {
  const { forMs, clocks = fourProcesses, callers = 20, serviceMs = [300, 1000], maxTokens = 100, ...shared } = options;
  const source = await startSource();
  const start = (name: string, clock?: object): Promise<Process<CallersTold>> =>
    startProcess('callers.mjs', { ...shared, name, callers, serviceMs, maxTokens, url: source.url, redisUrl: server.url }, clock === undefined ? {} : { clock });
  const processes = await Promise.all(clocks.map((clock, i) => start(`p${i + 1}`, clock)));
  for (const { say } of processes) say('go');
  await sleep(forMs / 3);
  const meanHeld = await meanLeases(look, { scope: shared.scope, forMs: (forMs * 2) / 3 });
  const { visits, nowMs } = await source.visits();
  const told = await Promise.all(processes.map(({ ask }) => ask('tell')));
  for (const { kill } of processes) kill();
  return { visits, nowMs, told, meanHeld };
}

async function meanLeases(look: Redis, { scope, forMs }: { readonly scope: string; readonly forMs: number }): Promise<number> {
  const [key = ''] = await look.keys(`*{${scope}/*:leases`);
  const counts: number[] = [];
  for (const endMs = performance.now() + forMs; performance.now() < endMs; ) {
    counts.push(await look.zcard(key));
    await sleep(25);
  }
  return counts.reduce((sum, count) => sum + count, 0) / counts.length;
}
