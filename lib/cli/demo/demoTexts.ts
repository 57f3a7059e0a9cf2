import { inSeconds } from '../inSeconds.js';
import type { Paint } from '../paint.js';
import { table } from '../table.js';
import { drawAxis } from './drawCall.js';
import type { Layout } from './drawCall.js';
import type { DemoFigures } from './demoFigures.js';
import { backupName, primaryName } from './demoRig.js';

export interface HeaderOptions {
  readonly calls: number;
  readonly seed: number;
  readonly hedgeStallAfterS: number;
  readonly layout: Layout;
  readonly paint: Paint;
}

/** What is about to be seen. */
export function headerLines({ calls, seed, hedgeStallAfterS, layout, paint }: HeaderOptions): string[] {
  return [
    paint('bold', `polygateway demo: ${counted(calls, 'call')}, two simulated sources on localhost, seed ${seed}`),
    '',
    `${primaryName}/1 is asked first, and often falls silent in the middle of an answer.`,
    `After ${hedgeStallAfterS.toFixed(1)} s of silence the same request also goes to ${backupName}/1 (hedging). The`,
    'first whole answer wins; the other request is cancelled, its connection closed.',
    '',
    `█ text arrives   · nothing arrives   ${paint('yellow', '!')} a backup starts   ${paint('red', 'x')} cancelled`,
    '',
    drawAxis(layout, paint),
  ];
}

/** What came of it. */
export function closingLines(figures: DemoFigures, { paint, keptIn }: { paint: Paint; keptIn: string | undefined }): string[] {
  const { calls, callMs, hedges, unhedged, rows } = figures;
  return [
    '',
    figuresTable(figures, paint),
    ...(rows === null ? ['No rows were written: better-sqlite3 is not installed (npm install better-sqlite3).'] : []),
    ...(keptIn === undefined ? [] : [`The rows are in ${keptIn}, table llm_attempts.`, `Where their time went: polygateway report --db ${quoted(keptIn)}`]),
    `${paint('bold', `${counted(calls, 'call')} in ${inSeconds(callMs, 1)} instead of ${inSeconds(unhedged.callMs, 1)}`)}, for ${counted(hedges, 'more request')}.`,
    'Hedging is off until you set HEDGE__STALL_AFTER_S: it trades quota for time.',
  ];
}

/** As a shell reads it. */
function quoted(file: string): string {
  return /[^\w./-]/.test(file) ? `'${file.replaceAll("'", `'\\''`)}'` : file;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function figuresTable(figures: DemoFigures, paint: Paint): string {
  const { calls, hedges, hedgesWon, unhedged, requests, rows } = figures;
  const seconds = (ms: number): string => inSeconds(ms, 1);
  return table({
    head: [counted(calls, 'call'), 'with hedging', 'without'],
    rows: [
      ['all calls together', seconds(figures.callMs), seconds(unhedged.callMs)],
      ['slowest call', seconds(figures.slowestMs), seconds(unhedged.slowestMs)],
      ['winning answers, wall time', seconds(figures.wallMs), seconds(unhedged.wallMs)],
      ['  of it net generation', seconds(figures.generationMs), seconds(unhedged.generationMs)],
      ['  of it stall', seconds(figures.stallMs), seconds(unhedged.stallMs)],
      ['hedges (the backup won)', `${hedges} (${hedgesWon})`, '0'],
      ['requests sent', String(requests), String(calls)],
      ['rows in the database', rows === null ? 'none' : String(rows), ''],
    ],
    figures: [1, 2],
    paint,
  });
}
