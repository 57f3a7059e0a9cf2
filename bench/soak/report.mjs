import { table } from '../support/table.mjs';
import { heldByCalls, heldByProcess, momentary } from './life.mjs';
import { slopeOf } from './trend.mjs';

/** What code that has warmed up a little more may keep; a leak of 100 bytes a call shows above it in half an hour. */
const heapToleranceKb = 3072;
/** Nine for each source: three for chat, three for embeddings. */
const mostKeys = 9 * 6;

/** Prints what was found; answers whether everything is back. */
export function report(told, { isLong }) {
  const rows = [...processRows(told), ...callRows(told), ...redisRows(told, isLong), ...accountRows(told), heapRow(told, isLong), shownRow('codeKb', told), shownRow('rssKb', told)];
  console.log(`${told.calls} calls, ${told.rows.requests} requests, ${told.rows.rows} rows, ${told.rows.again} sent again by the client\n`);
  console.log(table(['figure', 'before', 'at rest first', 'peak', 'at rest last', 'after', 'verdict'], rows.map(({ cells, verdict }) => [...cells, verdict])));
  printTrend(told);
  printCounts('How calls ended', told.outcomes);
  printCounts('What the upstream did', told.fates);
  printCounts('Events', told.events);
  for (const finding of told.findings.slice(0, 40)) console.log(`\nFOUND ${finding}`);
  console.log(`\nfindings: ${told.findings.length}`);
  return told.findings.length === 0 && rows.every(({ verdict }) => verdict !== 'NOT BACK');
}

const verdictOf = (isBack) => (isBack ? 'back' : 'NOT BACK');
const most = (list) => list.reduce((peak, value) => Math.max(peak, value ?? 0), 0);

function figureCells(name, { before, rested, loaded, after }, of = (figure) => figure) {
  const cells = [before[name], rested[0][name], most(loaded.map((sample) => sample[name])), rested.at(-1)[name], after[name]];
  return [name, ...cells.map((figure) => of(figure ?? 0))];
}

function processRows(told) {
  return heldByProcess.map((name) => ({ cells: figureCells(name, told), verdict: verdictOf(told.after[name] <= told.before[name]) }));
}

function callRows(told) {
  return heldByCalls.map((name) => ({ cells: figureCells(name, told), verdict: verdictOf([...told.rested, told.after].every((sample) => (sample[name] ?? 0) === 0)) }));
}

function redisRows({ keys, keysLeft }, isLong) {
  const looks = [...keys, keysLeft].filter((look) => look !== undefined);
  const row = (name, of, isBack) => ({ cells: [name, '–', '–', most(looks.map(of)), '–', of(keysLeft)], verdict: verdictOf(isBack(looks.map(of))) });
  return [
    row(`keys in Redis (at most ${mostKeys})`, (look) => look.keys, (counts) => counts.every((count) => count <= mostKeys)),
    row('keys without a TTL', ({ withoutTtl }) => withoutTtl.length, (counts) => counts.every((count) => count === 0)),
    row('keys that are kept for a minute', (look) => momentary(look).length, (counts) => !isLong || counts.at(-1) === 0),
    row('leases in Redis', ({ leases }) => leases, (counts) => counts.at(-1) === 0),
  ];
}

function accountRows({ rows: { rows, withoutRow, withoutRequest }, events }) {
  const row = (name, calls) => ({ cells: [name, '–', '–', '–', '–', calls.length === 0 ? 0 : `${calls.length}: ${calls.slice(0, 5).map((call) => JSON.stringify(call)).join(' ')}`], verdict: verdictOf(calls.length === 0) });
  const unwritten = { cells: ['attempts that ended less rows', '–', '–', '–', '–', events['attempt-ended'] - rows], verdict: verdictOf(events['attempt-ended'] === rows) };
  return [unwritten, row('calls with a request without a row', withoutRow), row('calls with an answered row without a request', withoutRequest)];
}

function heapRow(told, judged) {
  const grownKb = told.after.heapKb - told.before.heapKb;
  return { cells: figureCells('heapKb', told, Math.round), verdict: judged ? verdictOf(grownKb <= heapToleranceKb) : 'not judged' };
}

function shownRow(name, told) {
  return { cells: figureCells(name, told, Math.round), verdict: 'not judged' };
}

function printTrend({ rested, before, after }) {
  const half = Math.ceil(rested.length / 2);
  console.log(`\nHeap without machine code: ${(after.heapKb - before.heapKb).toFixed(0)} KB more after than before (tolerance ${heapToleranceKb} KB).`);
  console.log(`At rest: first half ${trendOf(rested.slice(0, half))}, second half ${trendOf(rested.slice(-half))}.`);
}

function trendOf(rested) {
  if (rested.length < 3) return 'too few rests for a line';
  return `${slopeOf(rested.map(({ atS, heapKb }) => [atS / 60, heapKb])).toFixed(1)} KB a minute over ${rested.length} rests`;
}

function printCounts(title, counts) {
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b - a);
  console.log(`\n${title}: ${sorted.map(([name, count]) => `${name} ${count}`).join(', ')}`);
}
