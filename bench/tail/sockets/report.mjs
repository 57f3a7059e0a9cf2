import { median, ratioToBase } from '../../support/statistics.mjs';
import { table } from '../../support/table.mjs';
import { waitingOnly } from './figuresOf.mjs';

const base = 'openai';
const times = ['p50', 'p90', 'p95', 'p99', 'mean'];

/** Medians over rounds; ratios are those within a round. */
export function reportTail(rounds) {
  const ratios = (figure) => ratioToBase(rounds.map((round) => Object.fromEntries(Object.entries(round).map(([name, figures]) => [name, figures[figure]]))), base);
  const [ofMean, ofP95] = [ratios('mean'), ratios('p95')];
  const head = ['seconds of the workload', ...times, `mean / ${base}`, `p95 / ${base}`, 'failed', 'extra requests per 100 calls', 'extra tokens %', 'CPU ms per call'];
  const rows = Object.keys(rounds[0]).map((name) => {
    const middle = middleOf(rounds, name);
    return [name, ...times.map(middle), ofMean[name], ofP95[name], total(rounds, name, 'failed'), middle('extraRequestsPer100'), middle('extraTokensPercent'), middle('cpuMsPerCall')];
  });
  return [table(head, rows), ...faultsOf(rounds)].join('\n');
}

export function reportOutage(rounds) {
  const figures = ['requestsPerCall', 'requestsPerCallInOutage', 'mostOpen', 'p50', 'p95', 'mean'];
  const head = ['general outage', 'requests per call', '… that comes in the outage', 'most streams open', 'p50 s', 'p95 s', 'mean s', 'failed', 'extra tokens %'];
  const rows = measuredNames(rounds).map((name) => [name, ...figures.map(middleOf(rounds, name)), total(rounds, name, 'failed'), middleOf(rounds, name)('extraTokensPercent')]);
  return [table(head, rows), ...faultsOf(rounds)].join('\n');
}

/** Whether the machine was good enough for the figures. */
export function reportMachine(rounds) {
  const figures = rounds.flatMap((round) => measuredNames(rounds).map((name) => ({ name, ...round[name] })));
  const worst = figures.reduce((most, one) => (one.loopLateP99Ms > most.loopLateP99Ms ? one : most));
  const others = figures.map(({ othersCores }) => othersCores);
  return [
    `- cores used by other programs: median ${median(others).toFixed(2)}, most ${Math.max(...others).toFixed(2)}`,
    `- event loop late, 99th percentile: most ${worst.loopLateP99Ms.toFixed(1)} ms (${worst.name}); over 10 ms the figures are those of a busy process, not of a policy`,
  ].join('\n');
}

/** Without an outage. */
export function reportLateness(rounds) {
  const late = median(rounds.map((round) => round[base].mean / round[waitingOnly].mean - 1));
  return `- ${base} took ${(late * 100).toFixed(1)} % longer than its timelines, which is what machine and upstream add to every contestant`;
}

const measuredNames = (rounds) => Object.keys(rounds[0]).filter((name) => rounds[0][name].requestsPerCall !== undefined);
const middleOf = (rounds, name) => (figure) => middleOfList(rounds.map((round) => round[name][figure]));
const total = (rounds, name, figure) => (rounds[0][name][figure] === undefined ? undefined : rounds.reduce((sum, round) => sum + round[name][figure], 0));

// A quantile of a round in which too many calls failed is infinite, which the median of the numbers would hide.
function middleOfList(list) {
  if (list.some((value) => value === undefined)) return undefined;
  return list.includes(Infinity) ? 'failed' : median(list);
}

function faultsOf(rounds) {
  const faults = measuredNames(rounds).map((name) => [name, rounds.flatMap((round) => round[name].faults)]).filter(([, list]) => list.length > 0);
  return faults.map(([name, list]) => `\n- ${name} failed: ${[...new Set(list)].slice(0, 3).join('; ')}`);
}
