import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { freePort } from '../support/freePort.js';
import { startRedis } from '../support/redisServer.js';
import type { RedisServer } from '../support/redisServer.js';
import { testCertificates } from '../support/testCertificates.js';

// Whom a process trusts is read as it starts, so each client is a process of its own.

interface Told {
  readonly ageMs?: number;
  readonly error?: { readonly name: string; readonly text: string };
}

const folder = mkdtempSync(join(tmpdir(), 'polygateway-tls-'));
const certificates = testCertificates();
const path = (name: string): string => join(folder, name);
const password = 'p@ss/w%rd:1';

let server: RedisServer;
let tlsPort: number;

beforeAll(async () => {
  const { key, cert } = certificates.valid;
  for (const [name, text] of Object.entries({ key, cert, ca: certificates.ca })) writeFileSync(path(name), text);
  const users = ['default off', `user on >${password} ~polygateway:1:* +@all`, `stranger on >${password} ~nothing +@all`, `reader on >${password} ~* +@all`];
  writeFileSync(path('redis.conf'), users.map((user) => `user ${user}\n`).join(''));
  tlsPort = await freePort();
  const tls = { 'tls-port': tlsPort, 'tls-cert-file': path('cert'), 'tls-key-file': path('key'), 'tls-ca-cert-file': path('ca'), 'tls-auth-clients': 'no' };
  server = await startRedis({ args: [path('redis.conf'), ...Object.entries(tls).flatMap(([name, value]) => [`--${name}`, String(value)])] });
}, 30_000);

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** Enters and settles in a process that trusts the authority of this spec, or nobody beside the usual ones. */
async function enter(url: string, { trusts = true } = {}): Promise<Told> {
  const child = spawn(process.execPath, [...typescript, fileURLToPath(new URL('entersOverTls.ts', import.meta.url)), url], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: trusts ? path('ca') : undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 30_000,
    killSignal: 'SIGKILL',
  });
  let [told, trouble] = ['', ''];
  child.stdout.on('data', (text: Buffer) => { told += text.toString(); });
  child.stderr.on('data', (text: Buffer) => { trouble += text.toString(); });
  await once(child, 'close');
  if (told === '') throw new Error(`it told nothing: ${trouble}`);
  return JSON.parse(told) as Told;
}

/** Lets Node load this project as it stands. */
const loader = new URL('../support/typescriptLoader.mjs', import.meta.url).href;
const typescript = ['--no-warnings', '--import', `data:text/javascript,${encodeURIComponent(`import { register } from 'node:module'; register(${JSON.stringify(loader)});`)}`];

const login = (user: string, secret: string): string => `${encodeURIComponent(user)}:${encodeURIComponent(secret)}`;

async function keysOf(db: number): Promise<string[]> {
  const client = new Redis({ port: server.port, username: 'reader', password, db });
  try {
    return await client.keys('*');
  } finally {
    client.disconnect();
  }
}

describe('a Redis behind TLS, with users', () => {
  test('G6: is entered with a user and a percent-encoded password, in the database that was asked for', async () => {
    const { ageMs } = await enter(`rediss://${login('user', password)}@localhost:${tlsPort}/2`);
    expect(ageMs).toBeGreaterThanOrEqual(0);
    expect(ageMs).toBeLessThan(30_000);
    const [there, elsewhere] = await Promise.all([2, 0].map(keysOf));
    expect(there).toContain('polygateway:1:{LLM/a%002f1}:source');
    expect(elsewhere).toEqual([]);
  }, 30_000);

  test.each<[string, () => { url: string; trusts?: boolean }, RegExp]>([
    ['a wrong password', () => ({ url: `rediss://${login('user', 'wrong-p@ss/word')}@localhost:${tlsPort}/2` }), /WRONGPASS/],
    ['no login', () => ({ url: `rediss://localhost:${tlsPort}` }), /NOAUTH/],
    ['a user who may not touch its keys', () => ({ url: `rediss://${login('stranger', password)}@localhost:${tlsPort}` }), /NOPERM/],
    ['a certificate of an authority that is not trusted', () => ({ url: `rediss://${login('user', password)}@localhost:${tlsPort}`, trusts: false }), /certificate/],
  ])('G6: %s is a GovernanceBackendError that names the trouble and no password', async (_, given, trouble) => {
    const { url, trusts = true } = given();
    const { error } = await enter(url, { trusts });
    expect(error).toMatchObject({ name: 'GovernanceBackendError', text: expect.stringMatching(/Redis at localhost:\d+ gave no decision: /) });
    expect(error!.text).toMatch(trouble);
    for (const secret of [password, 'wrong-p@ss/word']) {
      for (const form of [secret, encodeURIComponent(secret)]) expect(error!.text).not.toContain(form);
    }
  }, 30_000);
});
