import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './freePort.js';
import { startGuardedProcess } from './guardedProcess.js';

/** A Redis of one's own on the loopback. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Of the running process: another one after `restart`. */
  readonly pid: number;
  /** Holds the process: it keeps its connections and answers nothing. */
  pause(): void;
  resume(): void;
  /** Ends the process at once and waits until it is gone. */
  kill(): Promise<void>;
  /** Starts it again, empty, at the same port. */
  restart(): Promise<void>;
  /** Ends the process, paused or not, and removes its folder. */
  stop(): Promise<void>;
}

export interface RedisOptions {
  readonly port?: number;
  /** Come first on the command line: a configuration file may be among them. */
  readonly args?: readonly string[];
}

const advice = 'Install it (apt-get install -y redis-server), or set REDIS_URL to the address of a Redis; specs that pause or kill one need the binary.';

/** Starts a Redis that keeps nothing on disk and ends with this process; fails with the install command where there is none. */
export async function startRedis({ port: fixedPort, args = [] }: RedisOptions = {}): Promise<RedisServer> {
  const port = fixedPort ?? (await freePort());
  const folder = await mkdtemp(join(tmpdir(), 'polygateway-redis-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const start = (): ReturnType<typeof startGuardedProcess> =>
    startGuardedProcess({ command: 'redis-server', args: [...args, ...ownArgs(port, folder)], folder, advice, ready: /ready to accept|sentinel id is/i });
  let running = await start().catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return running.pid;
    },
    pause: () => void process.kill(running.pid, 'SIGSTOP'),
    resume: () => void process.kill(running.pid, 'SIGCONT'),
    kill: () => running.kill(),
    async restart() {
      await running.kill();
      await remove();
      await mkdir(folder);
      running = await start();
    },
    async stop() {
      await running.kill();
      await remove();
    },
  };
}

/** The address of the Redis that all specs of a run share; a spec keeps to keys of its own there. */
export function sharedRedisUrl(): string {
  const url = process.env['REDIS_URL'];
  if (url === undefined || url === '') throw new Error("REDIS_URL is not set: start the specs through jest with the project's globalSetup, or set REDIS_URL to the address of a Redis.");
  return url;
}

/** Stops them side by side. */
export async function stopAll(servers: readonly RedisServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server.stop()));
}

function ownArgs(port: number, folder: string): string[] {
  return ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no', '--daemonize', 'no'];
}
