import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { loadPeer, peers } from '../../model/loadPeer.js';
import type { RedisTarget } from '../../model/redisTarget.js';

type Ioredis = typeof import('ioredis');
export type RedisClient = Redis | Cluster;

/** A connection on which nothing was heard for so long though something was asked is given up and made anew. */
const silentSocketMs = 5000;
const connectTimeoutMs = 5000;
const reconnectMaxMs = 1000;

/**
 * What makes a client of it that decides quickly or not at all: nothing waits for a connection, and nothing is said twice,
 * since a command whose answer was lost may have been heard.
 */
const commandOptions = { enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 };

export interface RedisUse {
  /** Whether a connection that was lost is to be made again by itself. */
  readonly isWanted: () => boolean;
}

/** Connects in the background. Throws `ConfigError` if `ioredis` is not installed. */
export function openRedis(target: RedisTarget, use: RedisUse): RedisClient {
  const { Redis: Single, Cluster: Nodes } = loadPeer(peers.redis) as Ioredis;
  const client = target.type === 'cluster' ? openCluster(Nodes, target, use) : openSingle(Single, target, use);
  letProcessEnd(client);
  return client;
}

function openSingle(Single: Ioredis['Redis'], target: RedisTarget, use: RedisUse): Redis {
  const options: RedisOptions & { replyMapping: 'legacy' } = { ...connectionOptions(target, use), ...placeOf(target, use), replyMapping: 'legacy' };
  return new Single(options);
}

function placeOf({ type, hosts: [first, ...others], master = '', db, tls }: RedisTarget, use: RedisUse): RedisOptions {
  if (type === 'single' || first === undefined) return { ...first, db };
  return { sentinels: [first, ...others], name: master, db, enableTLSForSentinelMode: tls, sentinelRetryStrategy: whileWanted(use), ...(tls && { sentinelTLS: {} }) };
}

function openCluster(Nodes: Ioredis['Cluster'], target: RedisTarget, use: RedisUse): Cluster {
  const { retryStrategy, ...redisOptions } = connectionOptions(target, use);
  return new Nodes([...target.hosts], {
    // A node is connected to when it is first spoken to; else all that is said to it in that moment would be refused.
    enableOfflineQueue: true,
    clusterRetryStrategy: retryStrategy,
    redisOptions,
    // These two would say a command again that may have been heard.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    slotsRefreshTimeout: connectTimeoutMs,
    // By name, which is what a certificate is made for.
    dnsLookup: (address, done) => done(null, address),
  });
}

function connectionOptions({ tls, username, password }: RedisTarget, use: RedisUse) {
  return {
    ...commandOptions,
    protocol: 2 as const,
    connectTimeout: connectTimeoutMs,
    socketTimeout: silentSocketMs,
    // Else its timer would keep the process for two seconds after the end.
    disconnectTimeout: 100,
    retryStrategy: whileWanted(use),
    // A master that was replaced: ask anew who the master is.
    reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
    ...(tls && { tls: {} }),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  };
}

/** Nobody's timer: a process that has nothing else to do must be able to end. */
function whileWanted({ isWanted }: RedisUse): (times: number) => number | null {
  return (times) => (isWanted() ? reconnectInMs(times) : null);
}

function reconnectInMs(times: number): number {
  return Math.min(reconnectMaxMs, 50 * 2 ** Math.min(times - 1, 10)) * (0.5 + Math.random() / 2);
}

/** An idle connection keeps no process alive; one that waits for an answer is kept by the timer of its limit. */
function letProcessEnd(client: RedisClient): void {
  const whenConnected = (node: Redis): unknown => node.on('connect', () => void node.stream.unref());
  if ('nodes' in client) client.on('+node', whenConnected);
  else whenConnected(client);
}
