import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { startRedisCluster } from './redisCluster.js';
import { startRedisSentinel } from './redisSentinel.js';
import { sharedRedisUrl, startRedis } from './redisServer.js';
import { startTcpProxy } from './tcpProxy.js';
import { until } from './until.js';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function started<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> {
  const service = await starting;
  undo.push(() => service.stop());
  return service;
}

// A client waits that long for the end of a connection, even of one that the server has closed before.
const disconnectTimeout = 20;

function clientOf(url: string): Redis {
  const client = new Redis(url, { retryStrategy: () => 20, disconnectTimeout });
  client.on('error', () => undefined);
  undo.push(() => client.disconnect());
  return client;
}

/** Nothing, unless the promise settles within a time that is long on the loopback. */
const soon = <T>(promise: Promise<T>): Promise<T | undefined> => Promise.race([promise, sleep(300, undefined)]);

const folderOf = async (url: string): Promise<string> => String(await clientOf(url).config('GET', 'dir')).split(',')[1] ?? '';

/** The command lines of all processes that name this text; one that ends meanwhile has none. */
function processesNaming(text: string): string[] {
  const commandLine = (pid: string): string => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
    } catch {
      return '';
    }
  };
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(commandLine).filter((line) => line.includes(text));
}

function expectNothingLeft(folder: string, ...ports: number[]): void {
  expect(existsSync(folder)).toBe(false);
  expect([folder, ...ports.map((port) => `127.0.0.1:${port}`)].flatMap(processesNaming)).toEqual([]);
}

/** Runs a module beside jest, where the specs' own TypeScript can be imported. */
function runScript(script: string, env: NodeJS.ProcessEnv = {}): ChildProcess {
  const setup = `const folder = ${JSON.stringify(new URL('./', import.meta.url).href)}; const setup = await import(folder + 'globalSetup.mjs');`;
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', `${setup} ${script}`], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  undo.push(() => child.kill('SIGKILL'));
  return child;
}

async function outputOf(child: ChildProcess): Promise<{ code: number | null; out: string; err: string }> {
  const text = { out: '', err: '' };
  child.stdout?.on('data', (bytes: Buffer) => (text.out += bytes.toString()));
  child.stderr?.on('data', (bytes: Buffer) => (text.err += bytes.toString()));
  await once(child, 'close');
  return { code: child.exitCode, ...text };
}

describe('one Redis', () => {
  test('answers nothing while it is paused, and what it was asked once it is resumed', async () => {
    const server = await started(startRedis());
    const client = clientOf(server.url);
    await client.set('key', 'before');
    server.pause();
    const reply = client.get('key');
    expect(await soon(reply)).toBeUndefined();
    server.resume();
    expect(await reply).toBe('before');
  });

  test('is another process at the same port, and empty, after a restart', async () => {
    const server = await started(startRedis());
    const client = clientOf(server.url);
    await client.set('key', 'before');
    const { pid, port } = server;
    await server.kill();
    await server.restart();
    expect(server.port).toBe(port);
    expect(server.pid).not.toBe(pid);
    expect(await client.get('key')).toBeNull();
  });

  test('leaves neither process nor folder, though it was paused', async () => {
    const server = await startRedis();
    const folder = await folderOf(server.url);
    expect(processesNaming(`127.0.0.1:${server.port}`)).toHaveLength(1);
    server.pause();
    await server.stop();
    await until('its guard has ended', () => Promise.resolve(processesNaming(folder).length === 0), { timeoutMs: 2_000 });
    expectNothingLeft(folder, server.port);
  });

  test('says why it did not start, and leaves nothing', async () => {
    const server = await started(startRedis());
    await expect(startRedis({ port: server.port })).rejects.toThrow(/before it was ready:[^]*Address already in use/i);
    await expect(startRedis({ args: ['--no-such-setting', 'x'] })).rejects.toThrow(/no-such-setting/);
  });

  test('ends with the process that started it, killed or not', async () => {
    const child = runScript(`const { startRedis } = await import(folder + 'redisServer.ts'); console.log((await startRedis()).url); setInterval(() => {}, 1000);`, process.env);
    const [line] = (await once(child.stdout!, 'data')) as [Buffer];
    const url = line.toString().trim();
    const folder = await folderOf(url);
    child.kill('SIGKILL');
    await until('folder and process are gone', () => Promise.resolve(!existsSync(folder) && processesNaming(new URL(url).host).length === 0), { timeoutMs: 5_000 });
    expectNothingLeft(folder, Number(new URL(url).port));
  });
});

describe('the shared services', () => {
  test('have a Redis at the address that the specs are given', async () => {
    expect(await clientOf(sharedRedisUrl()).ping()).toBe('PONG');
  });

  test('name REDIS_URL where there is no address', () => {
    const given = process.env['REDIS_URL'];
    undo.push(() => (process.env['REDIS_URL'] = given));
    delete process.env['REDIS_URL'];
    expect(sharedRedisUrl).toThrow(/REDIS_URL/);
  });

  test('are started only where the environment names none, and are gone after the teardown', async () => {
    const script = `const { connect } = await import('node:net');
      await setup.default();
      const { port } = new URL(process.env.REDIS_URL);
      console.log(process.env.REDIS_URL, process.env.POSTGRES_URL);
      await setup.stopSharedServices();
      console.log(process.env.REDIS_URL, process.env.POSTGRES_URL);
      connect(port, '127.0.0.1', () => process.exit(2)).on('error', ({ code }) => console.log(code));`;
    const given = { PATH: process.env['PATH'], POSTGRES_URL: 'postgres://given' };
    const { code, out } = await outputOf(runScript(script, given));
    expect(code).toBe(0);
    expect(out).toMatch(/^redis:\/\/127\.0\.0\.1:\d+ postgres:\/\/given\nundefined postgres:\/\/given\nECONNREFUSED\n$/);
  });

  test('fail the run at once with the command that installs what is missing', async () => {
    const { code, out, err } = await outputOf(runScript(`await setup.default(); console.log('went on');`, { PATH: '', POSTGRES_URL: 'postgres://given' }));
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/Error: redis-server is not installed\. Install it \(apt-get install -y redis-server\), or set REDIS_URL/);
  });
});

describe('the cluster', () => {
  test('answers for the keys of all its nodes, and leaves nothing', async () => {
    const cluster = await started(startRedisCluster());
    expect(cluster.url).toBe(`redis+cluster://${cluster.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`);
    const client = new Cluster(cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port })), { redisOptions: { disconnectTimeout } });
    undo.push(() => client.disconnect());
    const keys = Array.from({ length: 60 }, (_, index) => `key-${index}`);
    await Promise.all(keys.map((key) => client.set(key, `of ${key}`)));
    expect(await Promise.all(keys.map((key) => client.get(key)))).toEqual(keys.map((key) => `of ${key}`));
    const counts = await Promise.all(cluster.nodes.map(({ url }) => clientOf(url).dbsize()));
    expect(counts.every((count) => count > 0)).toBe(true);
    expect(counts.reduce((sum, count) => sum + count)).toBe(keys.length);

    const folder = await folderOf(cluster.nodes[0]!.url);
    await cluster.stop();
    expectNothingLeft(folder, ...cluster.nodes.map(({ port }) => port));
  }, 30_000);
});

describe('the sentinel', () => {
  test('promotes the replica when the master is killed, and leaves nothing', async () => {
    const group = await started(startRedisSentinel());
    const { url, master, replica, sentinel } = group;
    expect(url).toBe(`redis+sentinel://127.0.0.1:${sentinel.port}/mymaster`);
    const sentinels = [{ host: '127.0.0.1', port: sentinel.port }];
    const client = new Redis({ sentinels, name: 'mymaster', sentinelRetryStrategy: () => 50, retryStrategy: () => 50, disconnectTimeout });
    client.on('error', () => undefined);
    undo.push(() => client.disconnect());
    await client.set('key', 'kept');
    expect(await client.wait(1, 5_000)).toBe(1);
    await master.kill();
    await until('the sentinel names the replica', async () => {
      const address = await clientOf(sentinel.url).call('sentinel', 'get-master-addr-by-name', 'mymaster');
      return String(address) === `127.0.0.1,${replica.port}`;
    });
    await until('the replica is a master', async () => String(await clientOf(replica.url).call('role')).startsWith('master'));
    expect(await client.get('key')).toBe('kept');
    expect(await client.set('key', 'new')).toBe('OK');

    const folder = await folderOf(replica.url);
    await group.stop();
    expectNothingLeft(folder, master.port, replica.port, sentinel.port);
  }, 30_000);
});

describe('the proxy', () => {
  async function behindProxy() {
    const server = await started(startRedis());
    const proxy = await started(startTcpProxy(server.port));
    return { server, proxy, direct: clientOf(server.url) };
  }

  /** A bare connection, on which nothing is sent again behind the test's back. */
  async function bareConnection(port: number): Promise<{ socket: Socket; ended: Promise<{ received: string; code: string | undefined }> }> {
    const socket = connect(port, '127.0.0.1');
    undo.push(() => socket.destroy());
    let received = '';
    let code: string | undefined;
    socket.on('data', (bytes) => (received += bytes.toString())).on('error', (error: NodeJS.ErrnoException) => (code = error.code));
    const ended = new Promise<{ received: string; code: string | undefined }>((resolve) => socket.once('close', () => resolve({ received, code })));
    await once(socket, 'connect');
    return { socket, ended };
  }

  test('swallows what is sent and passes it on late', async () => {
    const { proxy, direct } = await behindProxy();
    const client = clientOf(`redis://127.0.0.1:${proxy.port}`);
    expect(await client.incr('count')).toBe(1);
    proxy.swallow();
    const late = client.incr('count');
    expect(await soon(late)).toBeUndefined();
    expect(await direct.get('count')).toBe('1');
    expect(proxy.connections).toBe(1);
    proxy.flow({ late: true });
    expect(await late).toBe(2);
  });

  test('swallows what is sent and loses it', async () => {
    const { proxy, direct } = await behindProxy();
    const client = clientOf(`redis://127.0.0.1:${proxy.port}`);
    await client.ping();
    proxy.swallow();
    const lost = client.incr('count');
    expect(await soon(lost)).toBeUndefined();
    proxy.flow();
    // The client takes the reply to its next command for the one it waits for.
    void client.incrby('count', 10).catch(() => undefined);
    expect(await lost).toBe(10);
    expect(await direct.get('count')).toBe('10');
  });

  test('keeps a connection open whose server has gone, until it flows again', async () => {
    const { proxy, server } = await behindProxy();
    const { ended } = await bareConnection(proxy.port);
    await until('the proxy has the connection', () => Promise.resolve(proxy.connections === 1));
    proxy.swallow();
    await server.kill();
    expect(await soon(ended)).toBeUndefined();
    expect(proxy.connections).toBe(1);
    proxy.flow();
    expect(await ended).toEqual({ received: '', code: undefined });
  });

  test('lets one request through, drops its reply and resets the connection', async () => {
    const { proxy, direct } = await behindProxy();
    const { socket, ended } = await bareConnection(proxy.port);
    proxy.dropNextReply();
    socket.write('INCR count\r\n');
    expect(await ended).toEqual({ received: '', code: 'ECONNRESET' });
    expect(await direct.get('count')).toBe('1');
    const next = await bareConnection(proxy.port);
    next.socket.write('INCR count\r\nQUIT\r\n');
    expect(await next.ended).toEqual({ received: ':2\r\n+OK\r\n', code: undefined });
  });

  test('resets every connection when it cuts, takes new ones after that, and none once it is stopped', async () => {
    const { proxy } = await behindProxy();
    const both = await Promise.all([bareConnection(proxy.port), bareConnection(proxy.port)]);
    await until('the proxy has both', () => Promise.resolve(proxy.connections === 2));
    proxy.cut();
    expect((await Promise.all(both.map(({ ended }) => ended))).map(({ code }) => code)).toEqual(['ECONNRESET', 'ECONNRESET']);
    await until('the proxy has none', () => Promise.resolve(proxy.connections === 0));
    expect(await clientOf(`redis://127.0.0.1:${proxy.port}`).ping()).toBe('PONG');
    await proxy.stop();
    await expect(bareConnection(proxy.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
