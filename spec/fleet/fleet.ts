import { Redis } from 'ioredis';
import { closeAfterTest } from '../gateway/scene.js';
import { startChild } from '../gateway/children/startChild.js';
import type { Child } from '../gateway/children/startChild.js';
import { startRedis } from '../support/redisServer.js';
import type { RedisServer } from '../support/redisServer.js';
import type { Visit } from './usage.js';

export interface Visits {
  readonly visits: readonly Visit[];
  /** The source's clock, by which the visits are told. */
  readonly nowMs: number;
}

/** A source in a process of its own. */
export interface CountedSource {
  readonly url: string;
  visits(): Promise<Visits>;
}

/** A process that calls; it tells something whenever it is asked. */
export interface Process<T> {
  readonly pid: number;
  say(this: void, message: string): void;
  /** Asks, and waits for the answer. */
  ask(this: void, message: string): Promise<T>;
  kill(this: void): void;
  signal(this: void, signal: NodeJS.Signals): void;
}

/** What `children/caller.mjs` tells. */
export interface Told {
  readonly calls: readonly { readonly outcome: string; readonly retryAfterS?: number; readonly message?: string }[];
  readonly events: readonly { readonly type: string; readonly retryAfterMs?: number | null }[];
}

/** A Redis of the fleet's own, and a client to look into it. */
export interface FleetRedis {
  readonly server: RedisServer;
  readonly look: Redis;
}

export async function startFleetRedis(): Promise<FleetRedis> {
  const server = await startRedis();
  closeAfterTest(() => server.stop());
  const look = new Redis(server.port, '127.0.0.1', { replyMapping: 'legacy' } as object);
  look.on('error', () => undefined);
  closeAfterTest(() => look.disconnect());
  return { server, look };
}

export async function startSource(): Promise<CountedSource> {
  const child = start('upstream.mjs', {});
  const url = await child.message<string>();
  return {
    url,
    visits: () => {
      child.send('visits');
      return child.message<Visits>();
    },
  };
}

/** Starts `children/<file>`, which tells first of all that it is ready. */
export async function startProcess<T>(file: string, options: object, { clock }: { readonly clock?: object } = {}): Promise<Process<T>> {
  const shifted = clock === undefined ? {} : { execArgv: ['--import', new URL('children/shiftedClock.mjs', import.meta.url).href], env: { ...process.env, CLOCK: JSON.stringify(clock) } };
  const child = start(file, options, shifted);
  const { pid } = await child.message<{ pid: number }>();
  return {
    pid,
    say: child.send,
    ask: (message) => {
      child.send(message);
      return child.message<T>();
    },
    kill: child.kill,
    signal: (signal) => void process.kill(pid, signal),
  };
}

function start(file: string, options: object, more: Parameters<typeof startChild>[2] = {}): Child {
  const child = startChild(`../../fleet/children/${file}`, options, more);
  closeAfterTest(child.kill);
  return child;
}
