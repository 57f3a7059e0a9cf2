import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createPaint } from '../../lib/cli/paint.js';
import { startProgress } from '../../lib/cli/progress.js';
import { csvTable, csvTableNames } from '../../lib/cli/report/csvTables.js';
import { csvText } from '../../lib/cli/report/csvText.js';
import { duration } from '../../lib/lab/report/duration.js';
import { moment } from '../../lib/cli/report/moment.js';
import { percent } from '../../lib/cli/report/percent.js';
import { runReport } from '../../lib/cli/report/runReport.js';
import { shareOver, silencePlot } from '../../lib/cli/report/silencePlot.js';
import { summaryLines } from '../../lib/cli/report/summaryLines.js';
import { processTerminal } from '../../lib/cli/terminal.js';
import type { Terminal } from '../../lib/cli/terminal.js';
import { readReport } from '../lab/readReport.js';
import type { ReportFigures } from '../../lib/lab/report/reportFigures.js';
import { openAttemptReader } from '../../lib/telemetry/attemptReader.js';
import { createPostgresSink } from '../../lib/telemetry/postgresSink.js';
import { parseTelemetryUrl } from '../../lib/telemetry/telemetryUrl.js';
import { sharedPostgres } from '../support/postgresServer.js';
import { figuresSample, nothing, noTime, silences, sourceSample, whatIfSample } from './reportSample.js';
import { runCli } from './runCli.js';
import { runHere } from './runHere.js';
import { knownRows, writeTelemetryFile } from './telemetryFile.js';

// Each test starts the program several times, perhaps on a busy machine.
jest.setTimeout(60_000);

let dir: string;
let db: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'polygateway-report-'));
  db = writeTelemetryFile(join(dir, 'known.db'), knownRows());
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const screen = { columns: 80, isTerminal: true, paint: createPaint(false) };
const hash = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

async function figuresOf(file: string): Promise<ReportFigures> {
  const reader = await openAttemptReader({ target: parseTelemetryUrl(`sqlite:${file}`) });
  try {
    return await readReport({ reader, filter: {}, madeAt: new Date(0) });
  } finally {
    await reader.close();
  }
}

/** Reads CSV after RFC 4180, by another way than it is written. */
function parseCsv(text: string): string[][] {
  expect(text.endsWith('\r\n')).toBe(true);
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  const rows: string[][] = [[]];
  for (const [, quoted, plain = '', end] of text.matchAll(cell)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '\r\n') rows.push([]);
  }
  return rows.slice(0, -1);
}

describe('figures for people', () => {
  test.each([
    [0, '0 s'], [0.4, '0 s'], [999.4, '999 ms'], [999.6, '1 s'], [1250, '1.3 s'], [59_940, '59.9 s'], [59_960, '60 s'], [66_300, '66 s'],
    [119_600, '2 min'], [185_000, '3 min 5 s'], [3_599_600, '1 h'], [15_120_000, '4 h 12 min'], [172_800_000, '2 d'], [1e11, '1,157 d 10 h'],
  ])('%d ms are %s', (ms, text) => expect(duration(ms)).toBe(text));

  test.each([[0, '0 %'], [0.0004, '<0.1 %'], [0.041, '4.1 %'], [0.0999, '10 %'], [0.4149, '41 %'], [1, '100 %']])('%d is %s', (share, text) => expect(percent(share)).toBe(text));
});

describe('--since and --until', () => {
  const now = new Date('2026-11-30T12:00:00.000Z');
  test.each([
    ['90m', '2026-11-30T10:30:00.000Z'], ['24h', '2026-11-29T12:00:00.000Z'], ['2w', '2026-11-16T12:00:00.000Z'], ['2026-11-01', '2026-11-01T00:00:00.000Z'],
    ['2026-11-01T08:30', '2026-11-01T08:30:00.000Z'], ['2026-11-01 08:30:15.5+02:00', '2026-11-01T06:30:15.500Z'],
  ])('%s', (text, iso) => expect(moment(text, now).toISOString()).toBe(iso));

  test.each(['yesterday', '24', '7 d', '2026-02-30', '2026-13-01', '2026-11-01T25:00', ''])('%j is refused', (text) => expect(() => moment(text, now)).toThrow('Write so long ago (90m'));
});

describe('summary', () => {
  const summary = (figures: Partial<ReportFigures> = {}, whatIf = whatIfSample()): string[] => summaryLines({ figures: figuresSample(figures), whatIf, scope: 'review', screen });

  test('a source whose silence hedges cut off is the worst one, failures are told, and what nobody counted is not nothing', () => {
    const [fast, slow] = [sourceSample('fast/1', { attempts: 10, measured: 9, measuredMs: 100_000, stallMs: 2000 }), sourceSample('slow/1', { attempts: 30, cut: 30, cutMs: 9_000_000, cutFirstWaitMs: 60_000, cutSilentMs: 7_200_000 })];
    const { hedges } = figuresSample();
    const text = summary({
      sources: [fast, slow],
      overall: { ...figuresSample().overall, measuredMs: 100_000, stallMs: 2000, cutSilentMs: 7_200_000, neverSpoke: 180 },
      calls: { ...figuresSample().calls, calls: 200, answered: 20 },
      outcomes: { ...figuresSample().outcomes, transient: 180, hedge_cancelled: 30 },
      hedges: { ...hedges, losers: { attempts: 6, tokensReported: 0, tokensEstimated: 0, unknown: 6, wallMs: 1 } },
    }).join(' ').replace(/\s+/g, ' ');
    for (const words of [
      '100 % of all known silence at slow/1; 2 h of it cut a stream off.',
      'Failures: 20 of 200 calls answered; 180 attempts failed; 180 streams said nothing at all.',
      'What 6 losers took is not known.',
      'slow/1 │ 30 │ ≥ 2 h │ - │',
    ]) expect(text).toContain(words);
    expect(text.indexOf('slow/1 │')).toBeLessThan(text.indexOf('fast/1 │'));
  });

  test('tells what silence cost, where, which threshold to set and what it costs, in at most 30 lines of 80 characters', () => {
    const lines = summary();
    for (const words of [
      '1,200 attempts of 1,100 calls, sqlite:/data/telemetry.db, 2026-11-01 08:00 to 2026-11-30 10:00 UTC',
      'Silence took 40 % of the measured time: 4 h of 10 h.',
      '71 % of all known silence at slow/1, where it was 60 % of the measured time.',
      'at least 12 min of silence in which streams were cut; 20 min of waiting for a first increment in attempts that were cut; 28 min more of theirs; 1 h of attempts of whose middle nothing is known',
      'half took up to 12 s, 95 % up to 66 s (30.5 s without silence)',
      "80 calls; backups: 50 won, 25 wasted, 5 failed. Losers took at least 1,200 tokens, 3 % of the winners' (3 not known).",
      'slow/1 │ 800 │ 3 h │ 60 % │ 90 s │ 90 s',
      'Recommended, for at most 10 % more tokens: REVIEW__HEDGE__STALL_AFTER_S=20',
      '19 % of the calls hedged; 19 % (17 to 21 %) more requests; 4.1 % (3.7 to 4.5 %) more tokens',
    ]) expect(lines.join(' ').replace(/\s+/g, ' ')).toContain(words);
    expect(lines.findIndex((line) => line.includes('slow/1 │'))).toBeLessThan(lines.findIndex((line) => line.includes('fast/1 │')));
    expect(lines.length).toBeLessThan(30);
    expect(lines.slice(1).filter((line) => line.length > 80)).toEqual([]);
  });

  test('stays below a screen with many sources and long sentences, and leaves out what is not there', () => {
    const sources = Array.from({ length: 40 }, (_, at) => sourceSample(`a-provider-with-a-long-name-${at}/1`, { attempts: 1, measured: 1, measuredMs: 1000, stallMs: at }));
    const many = summary({ sources, blocked: 3 }, whatIfSample({ recommendation: { ...whatIfSample().recommendation!, reason: 'word '.repeat(40) } }));
    expect(many.length).toBeLessThan(30);
    expect(many.join('\n')).toContain('37 others');
    const empty = summaryLines({ figures: figuresSample({ overall: noTime, sources: [], longestSilence: nothing, calls: { calls: 0, answered: 0, latency: nothing, net: nothing } }), whatIf: undefined, scope: 'LLM', screen }).join('\n');
    expect(empty).toContain('How much time silence took is not known');
    expect(empty).not.toMatch(/NaN|undefined|null|Share of streamed/);
  });

  test('without a recommendation it says why', () => {
    expect(summary({}, whatIfSample({ recommendation: null, warnings: ['Only one source.'] })).join('\n')).toMatch(/No threshold is recommended for at most 10 % more tokens\.\n {2}Only one source\.\n/);
  });

  test('a hostile name of a source cannot steer the terminal', () => {
    expect(summary({ sources: [sourceSample('\u001b[2Jx/1', { measured: 1, measuredMs: 9, stallMs: 5 })], database: 'sqlite:/\u0007\u202e' }).join('\n')).not.toMatch(/[\u001b\u0007\u202e]/);
  });

  test('the plot falls with the share of longer silences and marks the threshold', () => {
    expect([999, 5000, 24_999, 25_000, 90_000].map((ms) => Math.round(100 * shareOver(silences, ms)))).toEqual([40, 30, 20, 10, 0]);
    const plot = silencePlot({ longest: silences, markMs: 20_000, screen });
    expect(plot[0]).toBe('Share of streamed attempts with a silence longer than (┃ 20 s, recommended):');
    expect(plot.slice(1).every((line) => line.includes('┃') || /^ *(└|\d+ s)/.test(line))).toBe(true);
    expect(plot.join('\n')).not.toContain('\u001b');
    expect(silencePlot({ longest: { ...silences, maxMs: 1000 }, markMs: null, screen })).toEqual([]);
  });
});

describe('CSV', () => {
  test('RFC 4180; a text that a spreadsheet would take for a formula is none', () => {
    const rows = [['a,b', 'say "x"', 'two\r\nlines', null], ['=1+1', '+1', '-1', '@x'], [-1, true, '\t=1', 'a=1']];
    expect(parseCsv(csvText({ head: ['a', 'b', 'c', 'd'], rows }))).toEqual([
      ['a', 'b', 'c', 'd'],
      ['a,b', 'say "x"', 'two\r\nlines', ''],
      ["'=1+1", "'+1", "'-1", "'@x"],
      ['-1', 'true', "'\t=1", 'a=1'],
    ]);
  });

  test('every table has as many cells in each row as names', () => {
    for (const name of csvTableNames) {
      const [head = [], ...rows] = parseCsv(csvTable(name, figuresSample(), whatIfSample()));
      expect(rows.length).toBeGreaterThan(0);
      expect({ name, widths: new Set(rows.map(({ length }) => length)) }).toEqual({ name, widths: new Set([head.length]) });
    }
  });
});

describe('progress', () => {
  function terminal(isTerminal: boolean, columns = 80): { terminal: Terminal; text: () => string } {
    const stream = Object.assign(new PassThrough(), { isTTY: isTerminal, columns }) as unknown as NodeJS.WriteStream;
    const chunks: string[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
    const err = { stream, isTerminal, columns, paint: createPaint(false), write: () => undefined, line: () => undefined };
    return { terminal: { input: new PassThrough(), out: err, err, env: {} }, text: () => chunks.join('') };
  }
  const soon = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

  test('a bar shows what is done once the work takes its time, and leaves nothing behind', async () => {
    const { terminal: here, text } = terminal(true);
    const progress = startProgress({ terminal: here, label: 'reading', total: 200, afterMs: 10 });
    progress.update(50);
    await soon(60);
    expect(text()).toMatch(/reading █+░+ 25 % 50\/200/);
    progress.stop();
    progress.stop();
    // To the first column, and the whole line is cleared.
    expect(text().endsWith('\u001b[1G\u001b[2K')).toBe(true);
    expect(text()).not.toMatch(/\u001b\[\?/);
  });

  test('nothing for short work, for a pipe, for TERM=dumb', async () => {
    const [short, pipe, dumb] = [terminal(true), terminal(false), terminal(true)];
    startProgress({ terminal: short.terminal, label: 'x', total: 1 }).stop();
    const others = [startProgress({ terminal: pipe.terminal, label: 'x', total: 1, afterMs: 0 }), startProgress({ terminal: { ...dumb.terminal, env: { TERM: 'dumb' } }, label: 'x', afterMs: 0 })];
    await soon(20);
    for (const { stop } of others) stop();
    expect([short.text(), pipe.text(), dumb.text()]).toEqual(['', '', '']);
  });
});

describe('polygateway report', () => {
  test('one command answers it all, writes the page and leaves the database as it was', async () => {
    const before = hash(db);
    const out = join(dir, 'week.html');
    const { code, stdout, stderr } = await runCli(['report', '--db', db, '--out', out]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const text = stdout.replace(/\s+/g, ' ');
    for (const words of [
      '400 attempts of 400 calls',
      'Silence took 23 % of the measured time: 20 min of 1 h 27 min.',
      'All of it at slow/1, where it was 29 % of the measured time.',
      'slow/1 │ 300 │ 20 min │ 29 % │ 40 s │ 400 ms',
      'fast/1 │ 100 │ 0 s │ 0 % │ 300 ms │ 400 ms',
      'Hedging: no backup was started.',
      '7.5 % of the calls hedged',
      `The whole report, for a browser: ${out}`,
    ]) expect(text).toContain(words);
    expect(text).toMatch(/Recommended, for at most 10 % more tokens: LLM__HEDGE__STALL_AFTER_S=\d+/);
    expect(stdout.split('\n').length).toBeLessThanOrEqual(40);
    expect(stdout).not.toContain('\u001b');
    const page = readFileSync(out, 'utf8');
    // Its own spec looks at it in a browser.
    expect({ html: /^<!doctype html>/i.test(page), policy: page.includes("default-src 'none'"), figures: page.includes('"stallMs":1200000'), whatIf: page.includes('"recommendation":{') }).toEqual({ html: true, policy: true, figures: true, whatIf: true });
    expect(hash(db)).toBe(before);
  });

  test.concurrent('--json: the figures of the library, and nothing else', async () => {
    const expected = await figuresOf(db);
    const { code, stdout, stderr } = await runCli(['report', '--db', `sqlite:${db}`, '--json', '--no-whatif'], { env: { FORCE_COLOR: '1' } });
    const { figures, whatIf } = JSON.parse(stdout) as { figures: ReportFigures; whatIf: unknown };
    expect({ code, stderr, whatIf, figures: { ...figures, madeAt: '' } }).toEqual({ code: 0, stderr: '', whatIf: null, figures: { ...expected, madeAt: '' } });
    expect(expected.overall).toMatchObject({ attempts: 400, measuredMs: 5_200_000, stallMs: 1_200_000 });
  });

  test('Postgres: the same figures', async () => {
    const postgres = await sharedPostgres();
    try {
      const url = await postgres.createDatabase();
      const sink = createPostgresSink({ url });
      await sink.write(knownRows());
      await sink.close();
      const { code, stdout } = await runHere(['report', '--json', '--no-whatif', '--scope', 'llm'], { env: { LLM__TELEMETRY__URL: url } });
      const { figures } = JSON.parse(stdout) as { figures: ReportFigures };
      expect({ code, ...figures, madeAt: '', database: '' }).toEqual({ code: 0, ...(await figuresOf(db)), madeAt: '', database: '' });
      expect(figures.database).toMatch(/^postgres:\/\/[^@]+$/);
    } finally {
      await postgres.stop();
    }
  });

  test('filters choose; --csv prints a table and writes no page', async () => {
    const args = ['report', '--db', db, '--csv', '--source', 'slow/1', '--since', '2026-11-01T08:00', '--until', '2026-11-01 09:00Z', '--tag', 'team=search'];
    const { code, stdout } = await runHere(args);
    const [head = [], ...rows] = parseCsv(stdout);
    const rowOf = Object.fromEntries(head.map((name, at) => [name, rows[0]?.[at]]));
    // Calls 0, 2, 4 … of the first hour are tagged so; of the even ones none is at fast/1.
    expect({ code, rows: rows.length, source: rowOf['source'], attempts: rowOf['attempts'] }).toEqual({ code: 0, rows: 1, source: 'slow/1', attempts: '30' });
    expect(existsSync(`polygateway-report-${new Date().toISOString().slice(0, 10)}.html`)).toBe(false);
  });

  const failing: [string, string[], number, RegExp][] = [
    ['no database named', [], 2, /nothing says which database: write --db sqlite:.+, or set LLM__TELEMETRY__URL/],
    ['no such file', ['--db', 'nowhere.db'], 1, /nowhere\.db: there is no such file; correct the path/],
    ['no database', ['--db', 'TEXT'], 1, /this is not a SQLite database; correct the path/],
    ['no table', ['--db', 'EMPTY'], 1, /llm_attempts/],
    ['no server', ['--db', 'postgres://me:geheim@127.0.0.1:9/d'], 1, /postgres:\/\/127\.0\.0\.1:9\/d: .*ECONNREFUSED/],
    ['another kind of database', ['--db', 'mysql://me:geheim@h/d'], 3, /mysql is not supported; write sqlite:/],
    ['nothing matches', ['--db', 'DB', '--source', 'other/1', '--tag', 'team=x'], 1, /no_attempts - .*no attempt matches --source other\/1 --tag team=x; ask for more/],
    ['a moment that is none', ['--db', 'DB', '--since', 'yesterday'], 2, /'yesterday' is invalid.*so long ago \(90m, 24h, 7d, 2w\)/],
    ['nothing between', ['--db', 'DB', '--since', '2026-11-02', '--until', '2026-11-01'], 2, /nothing lies between/],
    ['a tag without value', ['--db', 'DB', '--tag', 'team'], 2, /such as team=search/],
    ['a tag with two values', ['--db', 'DB', '--tag', 'a=1', '--tag', 'a=2'], 2, /No attempt has two values of a/],
    ['a share that may be 10 or 1000 %', ['--db', 'DB', '--max-extra', '10'], 2, /Write a share, such as 10% or 0\.1/],
    ['a tag that every object has', ['--db', 'DB', '--tag', 'constructor=x', '--tag', '__proto__=y'], 1, /no attempt matches --tag constructor=x --tag __proto__=y/],
    ['a page over the database', ['--db', 'DB', '--out', 'DB'], 2, /known\.db belongs to the database: name another file/],
    ['a page over a file of another kind', ['--db', 'DB', '--out', 'TEXT'], 2, /is there and is no HTML file/],
    ['a page into a pipe', ['--db', 'DB', '--out', 'PIPE'], 2, /is no regular file/],
    ['a page without a name', ['--db', 'DB', '--out', ''], 2, /--out names no file/],
    ['a page nowhere', ['--db', 'DB', '--out', '/nowhere/at/all.html'], 2, /all\.html cannot be written: ENOENT.*folder/],
    ['a table that was left out', ['--db', 'DB', '--csv', 'whatif', '--no-whatif'], 2, /leave them out/],
  ];

  test.each(failing)('%s: one line with the remedy, exit code, no password', async (_what, args, code, why) => {
    const files: Record<string, () => string> = {
      DB: () => db,
      TEXT: () => {
        writeFileSync(join(dir, 'text.db'), 'a text, and rather a long one that is none of a database\n'.repeat(20));
        return join(dir, 'text.db');
      },
      PIPE: () => {
        execFileSync('mkfifo', [join(dir, 'pipe.html')]);
        return join(dir, 'pipe.html');
      },
      EMPTY: () => {
        const file = join(dir, 'empty.db');
        new Database(file).exec('CREATE TABLE other (id)').close();
        return file;
      },
    };
    const result = await runHere(['report', ...args.map((arg) => files[arg]?.() ?? arg)]);
    expect({ code: result.code, stdout: result.stdout }).toEqual({ code, stdout: '' });
    expect(result.stderr).toMatch(why);
    expect(result.stderr.trimEnd()).not.toContain('\n');
    expect(result.stderr).not.toContain('geheim');
  });

  test('a reading that is stopped writes no page', async () => {
    const out = join(dir, 'stopped.html');
    const stopped = runReport({ db, out, whatif: false, maxExtra: 0.1, seed: 1, sample: 1000, terminal: processTerminal([]), signal: AbortSignal.abort('stopped') });
    await expect(stopped).rejects.toBe('stopped');
    expect(existsSync(out)).toBe(false);
  });

  test('--help teaches', async () => {
    const { code, stdout } = await runHere(['report', '--help']);
    expect(code).toBe(0);
    for (const words of ['Usage: polygateway report', '--db <where>', '--since <when>', '--tag <key=value>', '--max-extra <share>', '10%', '--csv [table]', 'Examples:\n  polygateway report']) expect(stdout).toContain(words);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(110);
  });
});
