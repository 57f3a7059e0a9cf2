import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createPaint } from '../../lib/cli/paint.js';
import { runWhatIf } from '../../lib/cli/whatif/runWhatIf.js';
import { whatIfLines } from '../../lib/cli/whatif/whatIfLines.js';
import { hedgeSettings } from '../../lib/lab/whatif/hedgeSettings.js';
import { readShare, readThresholds } from '../../lib/cli/whatif/whatIfOptions.js';
import { processTerminal } from '../../lib/cli/terminal.js';
import { createWhatIf } from '../../lib/lab/whatif/createWhatIf.js';
import type { WhatIf } from '../../lib/lab/whatif/whatIf.js';
import { openAttemptReader } from '../../lib/telemetry/attemptReader.js';
import { whatIfSample, predictionSample } from './reportSample.js';
import { runCli } from './runCli.js';
import { runHere } from './runHere.js';
import { callRow, knownRows, writeTelemetryFile } from './telemetryFile.js';

// Each test starts the program several times, perhaps on a busy machine.
jest.setTimeout(60_000);

let dir: string;
let db: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'polygateway-whatif-'));
  db = writeTelemetryFile(join(dir, 'known.db'), knownRows());
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const screen = (columns: number) => ({ columns, isTerminal: true, paint: createPaint(false) });
const printed = (whatIf: WhatIf, columns = 80): string[] => whatIfLines({ whatIf, subject: 'sqlite:/t.db', scope: 'LLM', screen: screen(columns) });

describe('what is printed', () => {
  test('tells counted from predicted, shows each threshold with its bands, recommends with the settings, and says that nothing was changed', () => {
    const text = printed(whatIfSample(), 160).join('\n');
    for (const words of [
      '1,100 calls, 1,200 attempts, sqlite:/t.db',
      '200 resamples, seed 1; bands hold 90 % of them',
      'As it was: p50 12 s, p90 40 s, p95 66 s, p99 90 s; 7 % hedged, 1 % failed.',
      'Nothing was changed',
      'docs/what-if.md',
      'off │    0 % │ 12 (11-13) │ 40 (36-44) │ 66 (59-73)',
      '20 s │   26 % │ 12 (11-13) │ 30 (27-33) │ 41 (37-45) │ 70 (63-77) │ 6 (5.4-6.6)',
      'LLM__HEDGE__STALL_AFTER_S=20\n  Of the thresholds',
      'p99 of a call 70 s (63 to 77 s) instead of 90 s',
      'note Backups are drawn from what the other sources did',
    ]) expect(text).toContain(words);
  });

  test('a narrow terminal gets bands below the values, in 80 columns', () => {
    const lines = printed(whatIfSample());
    expect(lines.some((line) => /│ +20 s │ +26 % │ +12 │ +30 │ +41 │ +70 │ +6 │ +6% │/.test(line))).toBe(true);
    expect(lines.filter((line) => /^[┌│├└]/.test(line) && line.length > 80)).toEqual([]);
  });

  test('the plot tells kinds, unhedged and recommended apart by letters', () => {
    const lines = printed(whatIfSample());
    const plot = lines.slice(lines.findIndex((line) => line.startsWith('p95 of a call against')) + 1).filter((line) => line.includes('┤') || /^ +│/.test(line)).join('\n');
    const count = (letter: string): number => plot.replace(/\d+(\.\d+)? s┤/g, '').split(letter).length - 1;
    expect({ s: count('s'), f: count('f'), unhedged: count('0'), recommended: count('R') }).toEqual({ s: 4, f: 1, unhedged: 1, recommended: 1 });
    expect(plot.split('\n')[0]).toMatch(/┤0/);
  });

  test('nothing to try, nothing recommended: no table, no plot, the reasons', () => {
    const text = printed(whatIfSample({ first: [], stall: [], recommendation: null, warnings: ['Too few calls.'] })).join('\n');
    expect(text).not.toMatch(/[┌┤]|NaN|undefined/);
    expect(text).toContain('No threshold is recommended for at most 10 % more tokens.\n\nnote Too few calls.');
  });

  test('unknown tokens are said to be unknown, and both kinds of setting are written', () => {
    const prediction = predictionSample({ extraTokensShare: null, extraTokensPerCall: null });
    expect(printed(whatIfSample({ maxExtraOf: 'requests', stall: [prediction] }), 160).join('\n')).toMatch(/│ +unknown │ +19%/);
    expect(hedgeSettings({ hedgeAfterMs: 2500, hedgeStallAfterMs: 20_000 }, 'review')).toEqual(['REVIEW__HEDGE__AFTER_S=2.5', 'REVIEW__HEDGE__STALL_AFTER_S=20']);
  });
});

describe('options', () => {
  test.each([['10%', 0.1], ['0.1', 0.1], ['.5 %', 0.005], ['150%', 1.5], ['1', 1]])('--max-extra %s', (text, share) => expect(readShare(text)).toBe(share));
  test.each(['10', '-5%', 'x', '', '%'])('--max-extra %j is refused', (text) => expect(() => readShare(text)).toThrow('Write a share'));
  test('thresholds are sorted, each once', () => expect(readThresholds('20, 5,7.5,5')).toEqual([5000, 7500, 20_000]));
  test.each(['0', '5,', 'x', '-1', '3000000', '1e3', ''])('thresholds %j are refused', (text) => expect(() => readThresholds(text)).toThrow('Write seconds above 0'));
});

describe('polygateway whatif', () => {
  test('--json: the predictions of the library for these thresholds and this seed, and nothing else', async () => {
    const reader = await openAttemptReader({ target: { type: 'sqlite', file: db } });
    const engine = createWhatIf({ hedgeStallAfterMs: [10_000, 30_000], hedgeAfterMs: [2000], seed: 7, resamples: 20, maxExtra: 0.05, sampleSize: 300 });
    for await (const call of reader.calls()) engine.add(call);
    await reader.close();
    const { code, stdout, stderr } = await runCli(['whatif', '--db', db, '--stall', '30,10', '--first', '2', '--seed', '7', '--resamples', '20', '--max-extra', '5%', '--sample', '300', '--json']);
    const whatIf = JSON.parse(stdout) as WhatIf;
    expect({ code, stderr, whatIf }).toEqual({ code: 0, stderr: '', whatIf: await engine.run() });
    // Of 400 calls 30 were silent for 20, 40 or 60 s, ten each; nobody waited 2 s for the first increment.
    expect({ stall: whatIf.stall.map(({ hedgedCalls }) => hedgedCalls), first: whatIf.first.length }).toEqual({ stall: [30, 20], first: 0 });
  });

  test.concurrent('a table for a pipe: no bar, no escape codes, no broken bands', async () => {
    const { code, stdout, stderr } = await runCli(['whatif', '--db', db, '--stall', '15', '--resamples', '20', '--since', '2026-11-01']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/│ +15 s │ +7\.5 % │ \d+ \(\d+-\d+\) │/);
    expect(stdout).not.toMatch(/[\u001b\r]/);
    expect(stdout).toContain('2026-11-01 08:00 to 2026-11-01 14:39 UTC');
  });

  test('recommends for the scope whose calls were read; --scope leaves the others out', async () => {
    const file = writeTelemetryFile(join(dir, 'scopes.db'), [...knownRows().map((row) => ({ ...row, scope: 'REVIEW' })), callRow(1000, { source: 'slow/1', silentMs: 0 })]);
    expect((await runHere(['whatif', '--db', file, '--stall', '5', '--resamples', '20'])).stdout).toMatch(/401 calls[^]*REVIEW__HEDGE__STALL_AFTER_S=5/);
    expect((await runHere(['whatif', '--db', file, '--stall', '5', '--resamples', '20', '--scope', 'review'])).stdout).toContain('400 calls');
    expect(await runHere(['whatif', '--db', file, '--scope', 'OTHER'])).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('no attempt matches --scope OTHER') });
  });

  test('errors and wrong use: exit code and remedy', async () => {
    expect(await runHere(['whatif', '--db', 'nowhere.db'])).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('there is no such file') });
    expect(await runHere(['whatif', '--db', db, '--stall', '5;10'])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('such as 5,10,20') });
    expect(await runHere(['whatif', '--db', 'nowhere.db', '--json'])).toMatchObject({ code: 1, stdout: expect.stringContaining('"code": "telemetry_unreadable"') });
  });

  test('--help teaches', async () => {
    const { code, stdout } = await runHere(['whatif', '--help']);
    expect(code).toBe(0);
    for (const words of ['Usage: polygateway whatif', '--stall <s,...>', '--first <s,...>', '--resamples <n>', '(default: 200)', 'docs/what-if.md', 'Examples:\n  polygateway whatif']) expect(stdout).toContain(words);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(110);
  });

  test('ends with the reason of its signal, in reading and in predicting', async () => {
    const terminal = processTerminal([]);
    const options = { db, maxExtra: 0.1, seed: 1, sample: 1000, resamples: 5000, terminal };
    await expect(runWhatIf({ ...options, signal: AbortSignal.abort('stopped') })).rejects.toBe('stopped');
    const controller = new AbortController();
    const running = runWhatIf({ ...options, signal: controller.signal });
    setTimeout(() => controller.abort('stopped later'), 300);
    await expect(running).rejects.toBe('stopped later');
  });
});
