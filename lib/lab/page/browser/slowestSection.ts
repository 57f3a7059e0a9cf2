import type { ReportFigures, SlowAttempt, SlowCall } from '../../report/reportFigures.js';
import { attemptsPlot, gapPaints } from './attemptsPlot.js';
import { endWords, roleWords } from './attemptWords.js';
import type { Charts } from './charts.js';
import { element, paragraph } from './element.js';
import type { Section } from './section.js';
import { paintLegend } from './paints.js';
import { count, counted, duration, instant, notMeasured } from './words.js';

/** So many are open; the others can be opened. */
const shown = 6;

export function slowestSection({ slowest }: ReportFigures, charts: Charts): Section {
  const [first] = slowest;
  const base = { id: 'slowest', short: 'Slowest calls' };
  if (first === undefined) return { ...base, title: 'There is no call to show', children: [] };
  const calls = slowest.map((call, index) => callFigure({ call, index, charts }));
  const rest = calls.slice(shown);
  return {
    ...base,
    title: `The slowest call took ${duration(first.callMs)}`,
    children: [
      paragraph('Each call from its entering to its end, one bar an attempt. Silences are drawn where they were recorded: only those longer than every one before them in their attempt are, so shorter ones count as output here. The winner has a frame.'),
      paintLegend(gapPaints(slowest)),
      ...calls.slice(0, shown),
      ...(rest.length === 0 ? [] : [element('details', { class: 'more' }, element('summary', {}, counted(rest.length, 'more slow call')), ...rest)]),
    ],
  };
}

function callFigure({ call, index, charts }: { readonly call: SlowCall; readonly index: number; readonly charts: Charts }): HTMLElement {
  const { callId, startedAt, callMs, answered, attempts } = call;
  const figure = charts.figure({
    label: `Timeline of call ${callId}: ${counted(attempts.length, 'attempt')} within ${duration(callMs)}`,
    caption: `Call ${callId}, entered ${instant(startedAt)}.${errorsOf(attempts)}`,
    draw: (width) => attemptsPlot({ width, call }),
    numbers: {
      caption: `Attempts of call ${callId}`,
      head: ['attempt', 'source', 'end', 'error', 'round', 'started', 'ended', 'first words', 'recorded silences'],
      rows: attempts.map(rowOf),
      words: 4,
    },
  });
  figure.prepend(element('h3', {}, `${index + 1}. ${duration(callMs)}, ${answered ? 'answered' : 'failed'}${attempts.length > 1 ? ` after ${counted(attempts.length, 'attempt')}` : ''}`));
  return figure;
}

function rowOf(attempt: SlowAttempt): string[] {
  const { source, errorMessage, round, startMs, endMs, ttftMs, silences } = attempt;
  const gaps = silences.map(([offsetMs, gapMs]) => `${duration(gapMs)} at ${duration(offsetMs)}`).join('; ');
  return [roleWords(attempt), source, endWords(attempt), errorMessage ?? '', count(round), duration(startMs), duration(endMs), ttftMs === null ? notMeasured : duration(ttftMs), gaps];
}

function errorsOf(attempts: readonly SlowAttempt[]): string {
  const texts = attempts.flatMap(({ source, errorMessage }) => (errorMessage === null ? [] : [`${source}: ${errorMessage}`]));
  return texts.length === 0 ? '' : ` ${[...new Set(texts)].join(' | ')}`;
}
