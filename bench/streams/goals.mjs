import { median } from '../support/statistics.mjs';
import { table } from '../support/table.mjs';
import { contestants } from './contestants.mjs';
import { numbersOf, ratiosOf } from './rounds.mjs';

const leastPeer = 2;
const goals = [
  { what: 'CPU per delta, × floor', scene: 'flat1-batch', quantity: 'cpuUs', ratio: true, goal: 1.2, ceiling: 1.5 },
  { what: 'CPU per delta, × floor', scene: 'flat200-frame', quantity: 'cpuUs', ratio: true, goal: 1.2, ceiling: 1.5 },
  { what: 'CPU per delta, × floor', scene: 'paced-1000', quantity: 'cpuUs', ratio: true, goal: 1.25, ceiling: 1.4 },
  { what: 'CPU per delta, × floor', scene: 'paced-5000', quantity: 'cpuUs', ratio: true, goal: 1.2, ceiling: 1.4 },
  { what: 'CPU per call, × floor', scene: 'calls-c1', quantity: 'cpuUs', ratio: true, goal: 1.4, ceiling: 1.8 },
  { what: 'CPU per call, × floor', scene: 'calls-c64', quantity: 'cpuUs', ratio: true, goal: 1.4, ceiling: 1.8 },
  { what: 'KB a stream', scene: 'paced-5000', quantity: 'kbPerStream', goal: 25, ceiling: 35 },
  { what: 'latency of a delta, p50 ms', scene: 'paced-5000', quantity: 'p50Ms', goal: 0.2, ceiling: 0.3 },
  { what: 'latency of a delta, p99 ms', scene: 'paced-5000', quantity: 'p99Ms', goal: 3, ceiling: 6 },
];

/** Each goal beside what was measured, for the contestants it holds for. */
export function summary({ names, scenes, measurements }) {
  const ofScene = (scene) => measurements.filter((measurement) => measurement.scene === scene);
  const ours = names.filter((name) => contestants[name].ours);
  const rows = goals.flatMap((aim) => ours.map((name) => [aim, name, valueOf(ofScene(aim.scene), aim, name)]));
  const aims = rows.filter(([, , value]) => Number.isFinite(value)).map(([aim, name, value]) => [`${aim.what}, ${aim.scene}`, name, value, aim.goal, aim.ceiling, verdict(value, aim)]);
  const peers = scenes.flatMap((scene) => cheapestPeer({ scene, names, ours, measurements: ofScene(scene) }));
  return `### Goals\n\n${table(['quantity', 'contestant', 'measured', 'goal', 'ceiling', 'met'], [...aims, ...peers])}`;
}

function valueOf(measurements, { quantity, ratio }, name) {
  return ratio ? ratiosOf(measurements, quantity)[name] : median(numbersOf(measurements, name, quantity));
}

function verdict(value, { goal, ceiling }) {
  if (value <= goal) return 'yes';
  return value <= ceiling ? 'within the ceiling' : 'NO';
}

/** How much dearer than the dearer one of ours the cheapest peer is; one that falls behind its pace can only be compared by the whole. */
function cheapestPeer({ scene, names, ours, measurements }) {
  const [steady, whole] = ['cpuUs', 'wholeUs'].map((quantity) => ratiosOf(measurements, quantity));
  const dearerThanOurs = (peer) => {
    const ratios = Number.isFinite(steady[peer]) ? steady : whole;
    return ratios[peer] / Math.max(...ours.filter((name) => Number.isFinite(ratios[name])).map((name) => ratios[name]));
  };
  const peers = names.filter((name) => contestants[name].peer).map((name) => ({ name, value: dearerThanOurs(name) })).filter(({ value }) => Number.isFinite(value) && value > 0);
  if (peers.length === 0) return [];
  const { name, value } = peers.reduce((one, other) => (other.value < one.value ? other : one));
  return [[`cheapest peer, × the dearer of ours, ${scene}`, name, value, `≥ ${leastPeer}`, `≥ ${leastPeer}`, value >= leastPeer ? 'yes' : 'NO']];
}
