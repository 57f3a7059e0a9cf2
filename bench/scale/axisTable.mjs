import { median, ratioToBase } from '../support/statistics.mjs';
import { table } from '../support/table.mjs';

/** Medians over rounds; ratios are medians of the ratios within rounds: to the smallest step of the same contestant, and to the base at the same step. */
export function axisTable({ axis: { step: stepName, contestants, base, figures }, steps, measured }) {
  const [[firstHead, first], ...more] = Object.entries(figures);
  const head = ['contestant', stepName, firstHead, `× ${steps[0]}`, ...(base === undefined ? [] : [`× ${base}`]), ...more.map(([title]) => title)];
  const rowOf = (contestant, step) => {
    const toBase = base === undefined ? [] : [ratios(measured.filter((one) => one.step === step), first, 'contestant', base)[contestant]];
    const toSmallest = ratios(measured.filter((one) => one.contestant === contestant), first, 'step', steps[0])[step];
    return [contestant, step, medianOf(measured, contestant, step, first), toSmallest, ...toBase, ...more.map(([, quantity]) => medianOf(measured, contestant, step, quantity))];
  };
  const rows = contestants.flatMap((contestant) => steps.map((step) => rowOf(contestant, step)));
  return [table(head, rows), ...failures(measured, stepName)].join('\n');
}

export function medianOf(measured, contestant, step, quantity) {
  return median(measured.filter((one) => one.contestant === contestant && one.step === step).map((one) => figureOf(one, quantity)));
}

// What is no number came through JSON as null, which counts as 0 in a division.
const figureOf = (one, quantity) => one[quantity] ?? NaN;

/** `{ [what differs by `key`]: ratio to that of `base` }`. */
function ratios(measured, quantity, key, base) {
  const rounds = [...new Set(measured.map(({ round }) => round))];
  return ratioToBase(rounds.map((round) => Object.fromEntries(measured.filter((one) => one.round === round).map((one) => [one[key], figureOf(one, quantity)]))), base);
}

function failures(measured, stepName) {
  const failed = measured.filter(({ error }) => error !== undefined);
  return failed.length === 0 ? [] : ['', ...failed.map(({ round, step, contestant, error }) => `- failed: ${contestant}, ${step} ${stepName}, round ${round}: ${error}`)];
}
