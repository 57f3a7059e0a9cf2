import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testCertificates } from '../support/testCertificates.js';
import { startChild } from './children/startChild.js';
import type { Child } from './children/startChild.js';

interface Seen {
  results: Result[];
  /** How often a plain timer, moved by each chunk, cried silence. */
  plainTimerFired: number;
}

interface Result {
  transport: string;
  content: string;
  error: string | null;
  hedges: number | null;
  rows: { source: string; error_class: string | null; increments: number; loop_lag_ms: number }[];
}

const blockMs = 3000;
const blockAfterMs = 800;
const increments = 44;
const wholeText = Array.from({ length: increments }, (_, i) => `${i} `).join('');
const places = [
  'an event listener',
  'setImmediate',
  'an unrelated response handler',
  'a microtask',
  'the data callback of plain',
  'the data callback of tls',
  'the data callback of gzip',
];

const folder = mkdtempSync(join(tmpdir(), 'blocked-'));
const children: Child[] = [];

function start(...args: Parameters<typeof startChild>): Child {
  const child = startChild(...args);
  children.push(child);
  return child;
}

/** A block costs no processor time, so that all clients can run side by side, each in a process of its own. */
async function runAll(): Promise<Map<string, Seen>> {
  const { ca, valid } = testCertificates();
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, ca);
  const upstream = start('steadyUpstream.mjs', { everyMs: 100, increments, shortMs: blockAfterMs, tls: valid });
  const servers = await upstream.message<object>();
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: caFile };
  const clients = places.map((place) => start('blockedGateway.mjs', { servers, place, blockAfterMs, blockMs }, { env }));
  // Starting up costs what the server needs to be on time.
  await Promise.all(clients.map((client) => client.message()));
  clients.forEach((client) => client.send('go'));
  const results = await Promise.all(clients.map((client) => client.message<Seen>()));
  return new Map(places.map((place, i) => [place, results[i]!]));
}

describe('hedge after 1 s, watchdog after 2 s, an increment each 0.1 s, our own loop blocked for 3 s', () => {
  let seen: Map<string, Seen>;

  beforeAll(async () => {
    seen = await runAll();
  }, 60_000);

  afterAll(() => {
    children.forEach((child) => child.kill());
    rmSync(folder, { recursive: true });
  });

  test.each(places)('T3, CL-01: no false hedge and no false kill on plain, TLS and gzip when the block sits in %s', (place) => {
    const { results } = seen.get(place)!;
    expect(results.map(({ transport, content, error, hedges, rows }) => ({ transport, content, error, hedges, rows: rows.length }))).toEqual(
      ['plain', 'tls', 'gzip'].map((transport) => ({ transport, content: wholeText, error: null, hedges: 0, rows: 1 })),
    );
  });

  test('control: a plain timer does cry silence in such a process', () => {
    // Not in each: it may be that data of the same poll phase saves it.
    expect([...seen.values()].filter(({ plainTimerFired }) => plainTimerFired > 0).length).toBeGreaterThanOrEqual(3);
  });

  test.each(places)('M7: each row tells how long the process itself was blocked, in %s', (place) => {
    for (const { rows } of seen.get(place)!.results) {
      expect(rows).toEqual([{ source: 'main/1', error_class: null, increments, loop_lag_ms: expect.any(Number) }]);
      expect(rows[0]!.loop_lag_ms).toBeGreaterThanOrEqual(2900);
    }
  });
});
