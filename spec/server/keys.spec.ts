import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { addressOf } from '../../lib/cli/serve/addressOf.js';
import { readClientKeys } from '../../lib/cli/serve/readClientKeys.js';
import { authenticate } from '../../lib/server/authenticate.js';
import { createClientKeys, sha256 } from '../../lib/server/clientKeys.js';
import type { ClientKeys } from '../../lib/server/clientKeys.js';
import { isLoopbackHost } from '../../lib/server/loopback.js';
import { bodyOf, sendRaw } from './rawHttp.js';

const key = 'client-key-of-16+';
const other = 'another-key-of-16+';
const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function start(keys?: ClientKeys): Promise<number> {
  const app: FastifyInstance = Fastify();
  cleanUps.push(() => app.close());
  authenticate(app, keys === undefined ? {} : { keys });
  for (const path of ['/v1/models', '/healthz', '/readyz', '/metrics']) app.get(path, () => 'served');
  await app.listen({ port: 0, host: '127.0.0.1' });
  return (app.server.address() as AddressInfo).port;
}

async function ask(port: number, headers: Record<string, string>, target = '/v1/models'): Promise<{ status: number | null; code: unknown; challenge: boolean; text: string }> {
  const lines = Object.entries({ host: `127.0.0.1:${port}`, connection: 'close', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const answer = await sendRaw(port, `GET ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
  const body: { error?: { code: unknown } } = answer.status === 200 ? {} : (bodyOf(answer) as { error?: { code: unknown } });
  return { status: answer.status, code: body.error?.code, challenge: answer.text.includes('www-authenticate: Bearer'), text: answer.text };
}

function keysFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'polygateway-keys-'));
  cleanUps.push(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'keys'), text);
  return join(folder, 'keys');
}

describe('client keys', () => {
  const keys = createClientKeys([sha256(key), sha256(other)]);
  const cases: [string, Record<string, string>, number][] = [
    ['the first key', { authorization: `Bearer ${key}` }, 200],
    ['the last key, scheme in lower case', { authorization: `bearer ${other}` }, 200],
    ['a key as x-api-key', { 'x-api-key': key }, 200],
    ['no key', {}, 401],
    ['a wrong key', { authorization: `Bearer ${key}x` }, 401],
    ['the beginning of a key', { authorization: `Bearer ${key.slice(0, -1)}` }, 401],
    ['the hash of a key', { authorization: `Bearer ${sha256(key).toString('hex')}` }, 401],
    ['another scheme', { authorization: `Basic ${key}` }, 401],
    ['an empty key', { authorization: 'Bearer ' }, 401],
  ];
  test.each(cases)('%s: %j gets %i', async (_what, headers, status) => {
    const { text, ...got } = await ask(await start(keys), headers);
    expect(got).toEqual({ status, code: status === 401 ? 'invalid_api_key' : undefined, challenge: status === 401 });
    expect(text).not.toContain(key);
  });

  test('/healthz and /readyz need none, whatever their query; /metrics and paths that do not exist do', async () => {
    const port = await start(keys);
    const paths = ['/healthz', '/readyz?x=1', '/metrics', '/healthz/../metrics', '/nowhere', '//healthz'];
    expect(await Promise.all(paths.map(async (path) => (await ask(port, {}, path)).status))).toEqual([200, 200, 401, 401, 401, 401]);
  });

  test('a name that is not of this machine is no reason, since a key says who asks', async () => {
    expect((await ask(await start(keys), { host: 'llm.example.com', origin: 'https://app.example.com', authorization: `Bearer ${key}` })).status).toBe(200);
  });

  test('of the environment and of a file together; a file may hold hashes, comments and blank lines', () => {
    const file = keysFile(`\uFEFF# of the team\r\n\r\n  ${other}  \nsha256:${sha256('a third key that is long').toString('hex').toUpperCase()}\n`);
    const read = readClientKeys({ env: { POLYGATEWAY_SERVE_KEYS: ` ${key} ,, ` }, file })!;
    expect(read.size).toBe(3);
    expect([key, other, 'a third key that is long', '', '# of the team'].map(read.has)).toEqual([true, true, true, false, false]);
    expect(JSON.stringify(read)).not.toContain(key);
    expect(readClientKeys({ env: { POLYGATEWAY_SERVE_KEYS: ' , ' } })).toBeUndefined();
  });

  test.each([
    ['too short, masked', 'secret-key-1234', '', /^key 1 of POLYGATEWAY_SERVE_KEYS \(sec…34\) has 15 characters.+use 16 at least/],
    ['no hash behind sha256:', '', 'sha256:abc', /^line 1 of \S+ begins with sha256: but 64 hexadecimal digits do not follow/],
    ['with a blank', `${key} ${key}`, '', /holds blanks/],
    ['a file without any', key, '# none\n', /holds no key: write one a line/],
  ])('%s: refused at the start', (_what, env, file, why) => {
    const read = (): unknown => readClientKeys({ env: { POLYGATEWAY_SERVE_KEYS: env }, file: file === '' ? undefined : keysFile(file) });
    expect(read).toThrow(expect.objectContaining({ code: 'config', message: expect.stringMatching(why) }));
    expect(read).not.toThrow(/secret-key-1234/);
  });

  test('a file that is not there: refused at the start', () => {
    expect(() => readClientKeys({ env: {}, file: '/nowhere/keys' })).toThrow(/--keys-file \/nowhere\/keys cannot be read: ENOENT/);
  });
});

describe('without keys: no open relay', () => {
  const answered = ['localhost', 'localhost:8787', 'LOCALHOST', 'app.localhost', '127.0.0.1:1', '127.9.9.9', '[::1]:8787', 'localhost.'];
  const refused = ['', 'evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '10.0.0.1', '0.0.0.0', '[::]', 'user@localhost', 'localhost/x', '127.0.0.1:80:80', '127.1', 'evillocalhost'];

  test('a host that names this machine to itself', () => {
    expect(answered.filter((host) => !isLoopbackHost(host))).toEqual([]);
    expect(refused.filter(isLoopbackHost)).toEqual([]);
  });

  const asked: [string, Record<string, string>, number, string | undefined][] = [
    ['its own name', {}, 200, undefined],
    ['a name that a page let point here', { host: 'rebound.example:8787' }, 403, 'host_not_allowed'],
    ['a page of another site', { origin: 'https://evil.example' }, 403, 'origin_not_allowed'],
    ['a page without a site', { origin: 'null' }, 403, 'origin_not_allowed'],
    ['a page of this machine', { origin: 'http://localhost:3000' }, 200, undefined],
    ['somebody elsewhere, through a proxy of this machine', { 'x-forwarded-for': '127.0.0.1, 203.0.113.7' }, 403, 'proxy_not_allowed'],
    ['the same in the newer words', { forwarded: 'for=203.0.113.7' }, 403, 'proxy_not_allowed'],
    ['this machine, through a proxy', { 'x-forwarded-for': '127.0.0.1, ::1' }, 200, undefined],
  ];
  test.each(asked)('%s: %j gets %i', async (_what, headers, status, code) => {
    expect(await ask(await start(), headers)).toMatchObject({ status, code });
  });

  test('a whole address as the target is answered by nobody, CONNECT neither', async () => {
    const port = await start();
    expect(await ask(port, {}, 'http://example.com/v1/models')).toMatchObject({ status: 400, code: 'no_proxy' });
    expect(await sendRaw(port, 'CONNECT example.com:443 HTTP/1.1\r\nhost: example.com:443\r\n\r\n')).toMatchObject({ text: '' });
  });

  test('it binds to a loopback address alone; with keys to any', async () => {
    const bound = (host: string, hasKeys = false): Promise<string> => addressOf({ host, hasKeys });
    expect(await Promise.all(['127.0.0.1', '127.3.2.1', '::1'].map((host) => bound(host)))).toEqual(['127.0.0.1', '127.3.2.1', '::1']);
    expect(['127.0.0.1', '::1']).toContain(await bound('localhost'));
    expect(await bound('0.0.0.0', true)).toBe('0.0.0.0');
    for (const host of ['0.0.0.0', '::', '10.1.2.3']) await expect(bound(host)).rejects.toMatchObject({ code: 'config', message: expect.stringContaining('POLYGATEWAY_SERVE_KEYS') });
  });
});
