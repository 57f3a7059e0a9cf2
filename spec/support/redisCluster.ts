import { Redis } from 'ioredis';
import { freePort } from './freePort.js';
import { startRedis, stopAll } from './redisServer.js';
import type { RedisServer } from './redisServer.js';
import { until } from './until.js';

/** Three masters that share the slots; a node that was restarted is empty and no longer one of them. */
export interface RedisCluster {
  /** redis+cluster://127.0.0.1:p1,127.0.0.1:p2,127.0.0.1:p3 */
  readonly url: string;
  readonly nodes: readonly RedisServer[];
  stop(): Promise<void>;
}

interface Member {
  readonly server: RedisServer;
  readonly client: Redis;
  readonly busPort: number;
}

const slotRanges = [[0, 5460], [5461, 10922], [10923, 16383]] as const;

/** Starts a cluster and waits until every node calls it whole, which Redis does no sooner than two seconds after its start. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const started: Member[] = [];
  const stop = (): Promise<void> => stopAll(started.map(({ server }) => server));
  try {
    await Promise.all(slotRanges.map(async () => started.push(await startMember())));
    await join(started);
  } catch (error) {
    await stop();
    throw error;
  } finally {
    for (const { client } of started) client.disconnect();
  }
  const nodes = started.map(({ server }) => server);
  return { url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`, nodes, stop };
}

async function startMember(): Promise<Member> {
  const busPort = await freePort();
  const settings = { enabled: 'yes', port: busPort, 'node-timeout': 1_000, 'announce-ip': '127.0.0.1' };
  const server = await startRedis({ args: Object.entries(settings).flatMap(([name, value]) => [`--cluster-${name}`, String(value)]) });
  return { server, client: new Redis(server.url), busPort };
}

async function join(members: readonly Member[]): Promise<void> {
  const [first] = members;
  for (const [index, { client }] of members.entries()) {
    const [from, to] = slotRanges[index]!;
    await client.call('cluster', 'addslotsrange', from, to);
    // Without an epoch of its own each node would first have to settle who yields to whom.
    await client.call('cluster', 'set-config-epoch', index + 1);
    if (index > 0) await client.call('cluster', 'meet', '127.0.0.1', first!.server.port, first!.busPort);
  }
  await until('the Redis cluster is whole on all nodes', async () => (await Promise.all(members.map(isWhole))).every(Boolean));
}

async function isWhole({ client }: Member): Promise<boolean> {
  const info = String(await client.call('cluster', 'info'));
  return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${slotRanges.length}`);
}
