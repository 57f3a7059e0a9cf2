import type { HourFigures, ReportFigures } from '../../report/reportFigures.js';
import { knownSilenceMs } from '../../report/timeSplit.js';
import { axisX, axisY, gridY, plot, pointer, rect, ruleY, tip } from '@observablehq/plot';
import type { Charts } from './charts.js';
import { colourOf, fillOf, paintLegend } from './paints.js';
import type { Paint } from './paints.js';
import type { Section } from './section.js';
import { paintsIn, patternWords, timePaints, timeParts } from './timeParts.js';
import { linearTicks, tickTime } from './timeScale.js';
import { count, duration, instant, monthDay, percent, ratio, timeOfDay } from './words.js';

const backups: Paint = { name: 'backups, upwards', colour: 'output', pattern: 'plain' };
const failures: Paint = { name: 'failed attempts, downwards', colour: 'silence', pattern: 'rising' };
export const hourPaints: readonly Paint[] = [backups, failures];

interface Block {
  readonly from: Date;
  readonly to: Date;
  readonly low: number;
  readonly high: number;
  readonly paint: Paint;
  readonly told: string;
}

export function hoursSection({ hours, step, overall }: ReportFigures, charts: Charts): Section {
  const stepMs = step === 'hour' ? 3_600_000 : 86_400_000;
  const time = hours.flatMap((hour) => timeBlocks(hour, stepMs));
  const events = hours.flatMap((hour) => eventBlocks(hour, stepMs));
  const timeNumbers = {
    caption: `Time by ${step}`,
    head: ['from', 'attempts', ...timePaints.map(({ name }) => name)],
    rows: hours.map((hour) => [instant(hour.from), count(hour.time.attempts), ...timeParts(hour.time).map(({ value }) => duration(value))]),
  };
  const eventNumbers = {
    caption: `Backups and failures by ${step}`,
    head: ['from', 'attempts', 'backups', 'failed'],
    rows: hours.map((hour) => [instant(hour.from), ...[hour.time.attempts, hour.backups, hour.failed].map(count)]),
  };
  return {
    id: 'hours',
    short: step === 'hour' ? 'By hour' : 'By day',
    title: titleOf(hours, step),
    children: [
      charts.figure({
        label: `Stacked bars: time of attempts by ${step}, split into silence, waiting, output and attempts that were cut`,
        caption: `Time of the attempts that began in each ${step}.${patternWords(overall)} ${step === 'hour' ? 'Hours' : 'Days'} without attempts are empty.`,
        legend: paintLegend(paintsIn(overall)),
        draw: (width) => blocksPlot({ width, blocks: time, axis: `time of attempts per ${step}`, format: tickTime, ticks: linearTicks(Math.max(...time.map(({ high }) => high), 1), 6), height: 280 }),
        numbers: timeNumbers,
      }),
      ...(events.length === 0
        ? []
        : [
            charts.figure({
              label: `Bars by ${step}: backups upwards, failed attempts downwards`,
              caption: `Backups above the line, failed attempts below it. Losers and attempts that their caller left are no failures.`,
              legend: paintLegend(hourPaints),
              draw: (width) => blocksPlot({ width, blocks: events, axis: `attempts per ${step}`, format: (value) => count(Math.abs(value)), height: 200 }),
              numbers: eventNumbers,
            }),
          ]),
    ],
  };
}

function titleOf(hours: readonly HourFigures[], step: ReportFigures['step']): string {
  const worst = [...hours].sort((a, b) => knownSilenceMs(b.time) - knownSilenceMs(a.time))[0];
  if (worst === undefined || knownSilenceMs(worst.time) === 0) return `No ${step} had known silence in mid-stream`;
  return `Silence was most in the ${step} from ${instant(worst.from)}: ${duration(knownSilenceMs(worst.time))} of ${duration(worst.time.wallMs)} (${percent(ratio(knownSilenceMs(worst.time), worst.time.wallMs))})`;
}

function timeBlocks({ from, time }: HourFigures, stepMs: number): Block[] {
  let high = 0;
  return timeParts(time)
    .map(({ paint, value }) => ({ paint, low: high, high: (high += value), ...span(from, stepMs), told: `${instant(from)}\n${paint.name}: ${duration(value)}` }))
    .filter((block) => block.high > block.low);
}

function eventBlocks({ from, backups: started, failed }: HourFigures, stepMs: number): Block[] {
  return [
    { paint: backups, low: 0, high: started, ...span(from, stepMs), told: `${instant(from)}\n${count(started)} backups` },
    { paint: failures, low: -failed, high: 0, ...span(from, stepMs), told: `${instant(from)}\n${count(failed)} failed` },
  ].filter(({ low, high }) => high > low);
}

const span = (from: string, stepMs: number): { from: Date; to: Date } => ({ from: new Date(from), to: new Date(Date.parse(from) + stepMs) });

/** The day stands under the first tick and where it changes. */
function tickDate(date: Date, index: number): string {
  const midnight = timeOfDay(date) === '00:00';
  return index === 0 || midnight ? `${midnight ? '' : timeOfDay(date)}\n${monthDay(date)}`.trim() : timeOfDay(date);
}

interface BlocksPlotOptions {
  readonly width: number;
  readonly height: number;
  readonly blocks: readonly Block[];
  readonly axis: string;
  readonly format: (value: number) => string;
  readonly ticks?: readonly number[];
}

function blocksPlot({ width, height, blocks, axis, format, ticks }: BlocksPlotOptions): Element {
  const thin = blocks.length / timePaints.length > width / 4;
  const yTicks = ticks ? { ticks } : { ticks: 5 };
  return plot({
    width,
    height,
    marginLeft: 78,
    marginRight: 22,
    marginTop: 26,
    marginBottom: 54,
    x: { type: 'utc' },
    marks: [
      gridY(yTicks),
      rect(blocks, { x1: 'from', x2: 'to', y1: 'low', y2: 'high', fill: (d: Block) => fillOf(d.paint), stroke: (d: Block) => (thin ? colourOf(d.paint) : 'var(--paper)'), strokeWidth: thin ? 0 : 0.5 }),
      ruleY([0], { stroke: 'var(--ink)' }),
      axisX({ label: 'time, UTC', labelAnchor: 'center', labelOffset: 46, labelArrow: 'none', ticks: Math.max(2, Math.floor(width / 90)), tickFormat: tickDate }),
      axisY({ ...yTicks, tickFormat: format, label: axis, labelArrow: 'none' }),
      tip(blocks, pointer({ x: (d: Block) => new Date((d.from.getTime() + d.to.getTime()) / 2), y: (d: Block) => (d.low + d.high) / 2, title: 'told' })),
    ],
  });
}
