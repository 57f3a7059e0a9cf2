import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { build } from 'esbuild';
import { HtmlValidate } from 'html-validate';
import { launch } from 'puppeteer-core';
import type { Browser, Page } from 'puppeteer-core';
import { notices } from '../../lib/lab/page/notices.js';
import { renderPage } from '../../lib/lab/page/renderPage.js';
import type { PageOptions } from '../../lib/lab/page/renderPage.js';
import type { ReportFigures } from '../../lib/lab/report/reportFigures.js';
import { deadFigures, emptyFigures, olderFigures, pageFigures, pageWhatIf, wholeFigures } from './pageFigures.js';
import { axisTexts, chartsOutside, contrasts, figuresSeen, firstChartWidth, overlaps, scrollPlaces, scrollWidth, words } from './pageProbes.js';
import type { Contrasts, FigureSeen, ScrollPlaces } from './pageProbes.js';
import { browserPath } from '../support/browserPath.js';

const full: PageOptions = { figures: pageFigures(), whatIf: pageWhatIf(), current: { hedgeAfterMs: null, hedgeStallAfterMs: 30_000 } };

interface Opened {
  readonly page: Page;
  readonly ask: <T>(probe: string) => Promise<T>;
  /** Messages of the console, errors, and requests other than for the file itself. */
  readonly troubles: readonly string[];
}

const folder = mkdtempSync(join(tmpdir(), 'polygateway-page-'));
let browser: Browser | undefined;
/** The page of the full report, which the tests share; each sets what it looks at. */
let report: Opened;

beforeAll(async () => {
  browser = await launch({ executablePath: browserPath(), args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  report = await open(full);
}, 60_000);

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await browser?.close();
});

async function open(options: PageOptions, width = 1280): Promise<Opened> {
  const file = join(mkdtempSync(join(folder, 'of-')), 'report.html');
  writeFileSync(file, renderPage(options));
  const address = pathToFileURL(file).href;
  const page = await browser!.newPage();
  const troubles: string[] = [];
  page.on('console', (message) => troubles.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => troubles.push(String(error)));
  page.on('request', (request) => request.url() === address || troubles.push(`asked for ${request.url()}`));
  await page.setViewport({ width, height: 900 });
  await page.goto(address);
  await page.waitForSelector('html[data-drawn]', { timeout: 20_000 });
  return { page, troubles, ask: <T>(probe: string) => page.evaluate(probe) as Promise<T> };
}

/** The shared page, and waits until it is drawn anew; that happens to the page in front only. */
async function resize(width: number): Promise<void> {
  await report.page.bringToFront();
  await report.page.setViewport({ width, height: 900 });
  await report.page.waitForFunction(`Math.abs(${firstChartWidth} - document.querySelector('.plot').clientWidth) < 1`, { timeout: 10_000 });
}

async function htmlErrors(html: string): Promise<string[]> {
  const { results } = await new HtmlValidate({ extends: ['html-validate:recommended'] }).validateString(html);
  return results.flatMap(({ messages }) => messages.map(({ ruleId, line, message }) => `${ruleId} ${line}: ${message}`));
}

// Other work may have the processors; a page takes about a second of one.
jest.setTimeout(30_000);

describe('report page', () => {
  test('is drawn without a word on the console and without a request, each figure with marks and named axes', async () => {
    expect(report.troubles).toEqual([]);
    const figures = await report.ask<FigureSeen[]>(figuresSeen);
    expect(figures.length).toBeGreaterThan(30);
    expect(figures.filter(({ caption, marks, ticks, named, rows }) => caption === '' || marks < 2 || ticks < 2 || !named || rows === 0)).toEqual([]);
    expect(await report.ask('document.querySelectorAll("section h2").length')).toBe(8);
  });

  test('says in sentences what the figures say', async () => {
    const text = await report.ask<string>(words);
    const { overall, hedges } = full.figures;
    const hours = (ms: number): string => `${Math.floor(Math.round(ms / 60_000) / 60)} h ${Math.round(ms / 60_000) % 60} min`;
    const share = Math.round((overall.stallMs / overall.measuredMs) * 100);
    expect(text).toContain(`Silence took ${share} % of the measured time: ${hours(overall.stallMs)} of ${hours(overall.measuredMs)}.`);
    expect(text).toContain(`${hedges.won} backups won, ${hedges.wasted} were wasted, ${hedges.failed} failed`);
    expect(text).toContain('A backup after 15 s in mid-stream would bring p95 from 66 s to 43.3 s for 6.8 % more tokens');
    expect(text).not.toMatch(/NaN|undefined|Infinity|\bnull\b/);
  });

  test('is valid HTML, as a file and as drawn', async () => {
    expect(await htmlErrors(renderPage(full))).toEqual([]);
    // The calls after the sixth are drawn like those before.
    await report.ask('document.querySelector("details.more").replaceWith()');
    expect(await htmlErrors(await report.ask('document.querySelector("main").outerHTML'))).toEqual([]);
  });

  test('is drawn again at another width, does not scroll sideways at 360 and 1280 px, and has a width of its own in print', async () => {
    expect([await report.ask(scrollWidth), await report.ask(chartsOutside)]).toEqual([1280, 0]);
    const wide = await report.ask<number>(firstChartWidth);
    await report.ask('dispatchEvent(new Event("beforeprint"))');
    expect(await report.ask(firstChartWidth)).toBe(680);
    await report.ask('dispatchEvent(new Event("afterprint"))');
    expect(await report.ask(firstChartWidth)).toBe(wide);
    await resize(360);
    expect([await report.ask(scrollWidth), await report.ask(chartsOutside)]).toEqual([360, 0]);
    await resize(1280);
    expect(await report.ask(firstChartWidth)).toBe(wide);
  });

  test('has text that can be read on its ground, light and dark, and is printed light from a dark screen', async () => {
    const session = await report.page.createCDPSession();
    const seen = async (scheme: string, media = ''): Promise<Contrasts> => {
      await session.send('Emulation.setEmulatedMedia', { media, features: [{ name: 'prefers-color-scheme', value: scheme }] });
      return report.ask<Contrasts>(contrasts);
    };
    const looks = { light: await seen('light'), dark: await seen('dark'), print: await seen('dark', 'print') };
    await session.detach();
    expect(looks.light.ground).toBeGreaterThan(0.9);
    expect(looks.dark.ground).toBeLessThan(0.02);
    expect(looks.print.ground).toBeGreaterThan(0.9);
    const pairs = Object.entries(looks).flatMap(([look, { pairs: ofLook }]) => ofLook.map(({ what, ratio }) => ({ what: `${look}: ${what}`, ratio })));
    expect(pairs.length).toBeGreaterThan(30);
    expect(pairs.filter(({ ratio }) => ratio < 4.5)).toEqual([]);
  });

  test('shows hostile texts as texts', async () => {
    const evil = '</script><script>window.broken = 1</script><img src=x onerror="window.broken = 2"><!-- \u2028 {{x}} ${y}';
    const { ask, troubles } = await open({ figures: hostile(evil), whatIf: { ...pageWhatIf(), warnings: [evil] } }, 360);
    expect(troubles).toEqual([]);
    expect(await ask('"broken" in window || document.querySelectorAll("main img, main script").length > 0')).toBe(false);
    expect(await ask('document.querySelector(".warnings").textContent')).toBe(evil);
    expect((await ask<string>('document.querySelector("main").textContent')).split(evil).length).toBeGreaterThan(10);
    expect(await ask(scrollWidth)).toBe(360);
  });

  test('says so where there is nothing, and what was not measured', async () => {
    const empty = await open({ figures: emptyFigures() });
    expect(await empty.ask(words)).toContain('There is no attempt to report on');
    const whole = await open({ figures: wholeFigures() });
    const text = await whole.ask<string>(words);
    expect(text).toContain('At no source is it known how much time silence took');
    expect([await empty.ask<string>(words), text].join('\n')).not.toMatch(/NaN|undefined|Infinity|\bnull\b/);
    expect([...empty.troubles, ...whole.troubles]).toEqual([]);
  });

  test('tells of waiting for first words that never came, of losers that nothing is known of, and of silence in rows of an older schema', async () => {
    const dead = await open({ figures: deadFigures(), whatIf: { ...pageWhatIf(), first: [], stall: [], recommendation: null } });
    const text = await dead.ask<string>(words);
    expect(text).toContain('160 of 200 attempts failed. Cut attempts waited 6 h for first words (99.5 % of all time); 180 of them never got any.');
    expect(text).toContain('Of the streams that spoke, half did within 500 ms, 19 in 20 within 500 ms; 180 streams never spoke');
    expect(text).toContain('Cost of losers: tokens of 20 losers unknown.');
    expect(text).not.toMatch(/ 0 tokens|cut attempts: the rest/);
    expect(await dead.ask(axisTexts('silences'))).not.toContain('1 ms');
    const older = await open({ figures: olderFigures() });
    const said = await older.ask<string>(words);
    expect(said).toContain('How much time silence took is known of none of 3 attempts; the longest silences of streams are, and stand below.');
    expect(said).toContain('19 in 20 fell silent for at most 28.5 s');
    expect(said).not.toMatch(/not measured at any|nothing is known|No source/);
    expect([...dead.troubles, ...older.troubles]).toEqual([]);
  });

  test('draws the prediction over the axis that it needs, and no label upon another, at 360 and 1280 px', async () => {
    for (const width of [360, 1280]) {
      await resize(width);
      expect(await report.ask(overlaps('#whatif figure'))).toEqual([]);
      const texts = await report.ask<string[]>(axisTexts('whatif'));
      expect(texts).toEqual(expect.arrayContaining(['40 s', '60 s']));
      expect(texts).not.toContain('0');
    }
    expect(await report.ask(words)).toContain('The upright axis does not start at 0.');
  });

  test('lets the keyboard reach what scrolls, by name, and only that; no heading of a table is empty, no two numbers are of the same name', async () => {
    await resize(1280);
    const wide = await report.ask<ScrollPlaces>(scrollPlaces);
    expect(wide.wrong).toEqual([]);
    await report.ask('[...document.querySelectorAll("details")].forEach((details) => (details.open = true))');
    await resize(360);
    await report.page.waitForFunction(`document.querySelectorAll('.scroll[role="region"]').length > 10`, { timeout: 10_000 });
    const narrow = await report.ask<ScrollPlaces>(scrollPlaces);
    expect(narrow).toEqual({ scrolling: narrow.scrolling, still: narrow.still, wrong: [] });
    expect(Math.min(wide.still, narrow.still)).toBeGreaterThan(0);
    expect(await report.ask('[...document.querySelectorAll("th")].filter((head) => head.textContent.trim() === "").length')).toBe(0);
    const summaries = await report.ask<string[]>('[...document.querySelectorAll("figcaption summary")].map((summary) => summary.textContent)');
    expect(new Set(summaries).size).toBe(summaries.length);
    await report.ask('[...document.querySelectorAll("details")].forEach((details) => (details.open = false))');
    await resize(1280);
  });

  test('runs no script but its own: the policy in the file allows nothing else', async () => {
    const { ask } = await open({ figures: emptyFigures() });
    await ask('document.body.append(Object.assign(document.createElement("script"), { textContent: "document.title = 1" }))');
    expect(await ask('document.title')).toBe('Where the time went - polygateway report');
  });

  test('carries the notice of every package that its script holds', async () => {
    const root = fileURLToPath(new URL('../../', import.meta.url));
    const { metafile } = await build({ absWorkingDir: root, entryPoints: ['lib/lab/page/browser/main.ts'], bundle: true, minify: true, format: 'iife', target: 'es2022', metafile: true, write: false, outdir: 'unwritten' });
    const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])));
    const held = [...new Set(inputs.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []))].sort();
    expect(notices.flatMap(({ packages }) => packages).sort()).toEqual(held);
    const html = renderPage({ figures: emptyFigures() });
    for (const { packages, text } of notices) {
      expect(html).toContain(text);
      for (const name of packages) expect(licenceOf(join(root, 'node_modules', name))).toBe(text);
    }
  });
});

function licenceOf(place: string): string {
  return readFileSync(join(place, readdirSync(place).find((name) => /^licen[cs]e/i.test(name))!), 'utf8').trim();
}

/** The text wherever figures hold a text of a stranger. */
function hostile(evil: string): ReportFigures {
  const figures = pageFigures({ sources: [evil, `${evil} 2`] });
  const slowest = figures.slowest.map((call) => ({ ...call, callId: evil, attempts: call.attempts.map((attempt) => ({ ...attempt, errorMessage: evil })) }));
  const sources = figures.sources.map((source) => ({ ...source, provider: evil, models: [evil] }));
  return { ...figures, slowest, sources, database: evil, filter: { ...figures.filter, source: evil, tags: { [evil]: evil } } };
}
