import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startRedis, stopAll } from './redisServer.js';
import type { RedisServer } from './redisServer.js';
import { until } from './until.js';

/** A master, its replica, and a sentinel that promotes the replica when the master has been silent for 500 ms. */
export interface RedisSentinel {
  /** redis+sentinel://127.0.0.1:PORT/mymaster, PORT being the sentinel's. */
  readonly url: string;
  readonly master: RedisServer;
  readonly replica: RedisServer;
  readonly sentinel: RedisServer;
  stop(): Promise<void>;
}

const masterName = 'mymaster';

/** Starts the three and waits until the replica follows the master and the sentinel knows it. */
export async function startRedisSentinel(): Promise<RedisSentinel> {
  const folder = await mkdtemp(join(tmpdir(), 'polygateway-sentinel-'));
  const started: RedisServer[] = [];
  const start = async (...args: string[]): Promise<RedisServer> => {
    const server = await startRedis({ args });
    started.push(server);
    return server;
  };
  const stop = async (): Promise<void> => {
    await stopAll(started);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const master = await start('--repl-diskless-sync-delay', '0');
    const replica = await start('--replicaof', '127.0.0.1', String(master.port));
    await until('the replica follows the master', () => says(replica, ['info', 'replication'], 'master_link_status:up'));
    // A sentinel rewrites its configuration file, so it must have one on disk.
    const file = join(folder, 'sentinel.conf');
    await writeFile(file, configuration(master.port));
    const sentinel = await start(file, '--sentinel');
    await until('the sentinel knows the replica', () => says(sentinel, ['sentinel', 'replicas', masterName], 'master-link-status,ok'));
    return { url: `redis+sentinel://127.0.0.1:${sentinel.port}/${masterName}`, master, replica, sentinel, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function configuration(masterPort: number): string {
  return [
    `sentinel monitor ${masterName} 127.0.0.1 ${masterPort} 1`,
    `sentinel down-after-milliseconds ${masterName} 500`,
    `sentinel failover-timeout ${masterName} 2000`,
    '',
  ].join('\n');
}

async function says(server: RedisServer, [command, ...args]: readonly [string, ...string[]], text: string): Promise<boolean> {
  const client = new Redis(server.url);
  try {
    return String(await client.call(command, ...args)).includes(text);
  } finally {
    client.disconnect();
  }
}
