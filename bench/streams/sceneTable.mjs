import { median } from '../support/statistics.mjs';
import { shown, table } from '../support/table.mjs';
import { excessOf, numbersOf, ratiosOf } from './rounds.mjs';

/** Heading and quantity of each column; the first is compared with the floor. */
const columnsOf = {
  flat: { 'CPU µs/delta': 'cpuUs', 'wall µs/delta': 'wallUs', 'upstream busy': 'upstreamBusy' },
  calls: { 'CPU µs/call': 'cpuUs', 'calls/s': 'callsPerS', 'upstream busy': 'upstreamBusy' },
  paced: { 'CPU µs/delta': 'cpuUs', '… of the whole': 'wholeUs', 'core busy': 'coreBusy', 'p50 ms': 'p50Ms', 'p99 ms': 'p99Ms', 'peak MB': 'peakMb', 'KB/stream': 'kbPerStream', 'upstream busy': 'upstreamBusy' },
};

/** Medians over rounds; the ratio is the median of the ratios within rounds. */
export function sceneTable({ name, scene, names, rounds, measurements, others }) {
  const [[firstHead, first], ...more] = Object.entries(columnsOf[scene.kind]);
  const paced = scene.kind === 'paced';
  const head = ['contestant', firstHead, 'min', '× floor', ...more.map(([title]) => title), ...(paced ? ['p50 − floor', 'p99 − floor'] : [])];
  const ratios = ratiosOf(measurements, first);
  const rowOf = (contestant) => {
    const own = (quantity) => numbersOf(measurements, contestant, quantity);
    if (own('openMs').length === 0) return [contestant, 'failed', ...head.slice(2).map(() => '–')];
    const behind = paced ? ['p50Ms', 'p99Ms'].map((quantity) => excessOf(measurements, contestant, quantity)) : [];
    return [contestant, median(own(first)), own(first).length > 0 ? Math.min(...own(first)) : NaN, ratios[contestant], ...more.map(([, quantity]) => median(own(quantity))), ...behind];
  };
  const failed = measurements.filter(({ error }) => error !== undefined).length;
  const notes = `${titleOf(scene)}; rounds: ${rounds}, cores used by others: ${shown(others)}${failed > 0 ? `, failed measurements: ${failed}` : ''}`;
  return `### ${name}\n\n${notes}\n\n${table(head, names.map(rowOf))}`;
}

function titleOf({ kind, streams, deltas, concurrency, shape: [mode, argument] }) {
  if (kind === 'calls') return `replies of ${deltas} deltas, ${concurrency} at a time`;
  const size = `${streams} × ${deltas} deltas`;
  return kind === 'paced' ? `${size}, one each ${argument} ms` : `${size} flat out, ${mode === 'batch' ? argument : 1} a write`;
}
