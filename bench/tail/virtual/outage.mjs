import { fileURLToPath } from 'node:url';
import { measureIn } from '../../support/child.mjs';
import { table } from '../../support/table.mjs';

const outageLoad = fileURLToPath(new URL('outageLoad.mjs', import.meta.url));
const minuteMs = 60_000;
const beforeMinutes = 3;
const outageMinutes = 10;
const afterMinutes = 10;
const watchdogMinutes = 5;
const asBefore = 1.5;

const policies = {
  'no hedging': {},
  'hedged at 20 s': { hedgeStallAfterS: 20 },
  '… hedgeMaxRatio 0.25': { hedgeStallAfterS: 20, hedgeMaxRatio: 0.25 },
};

/** Every source falls silent in mid-stream for ten minutes while calls keep coming: how many requests that makes. Answers the raw minutes by policy. */
export async function measureOutage({ seed, callsPerSecond }) {
  const plan = { seed, sources: ['a', 'b'], callsPerS: callsPerSecond, beforeMs: beforeMinutes * minuteMs, outageMs: outageMinutes * minuteMs, afterMs: afterMinutes * minuteMs };
  const entries = Object.entries(policies).map(async ([name, settings]) => [name, await measureIn(outageLoad, [JSON.stringify({ ...plan, settings })], { timeoutMs: 1_800_000 })]);
  return Object.fromEntries(await Promise.all(entries));
}

export function outageTables(load, { callsPerSecond }) {
  const names = Object.keys(load);
  const plain = load['no hedging'];
  const rows = names.map((name) => summary(name, load[name], plain, callsPerSecond * 60));
  const byMinute = plain.map(({ minute }, at) => [phaseOf(minute), ...names.flatMap((name) => [sent(load[name], at, at + 1), load[name][at].open])]);
  return [
    table(['policy', 'requests per call in its first 5 minutes', 'to no hedging', 'in flight then, to no hedging', 'requests per call in all of it', 'most in flight, to no hedging', 'busiest minute after it, requests per call', 'minutes after it until in flight is as before', 'failed calls'], rows),
    table(['minute', ...names.flatMap((name) => [`${name}: sent`, 'in flight'])], byMinute),
  ].join('\n\n');
}

/** The first five minutes stand alone: after them watchdogs (300 s) and breakers act, which are no part of hedging. */
function summary(name, minutes, plain, callsPerMinute) {
  const [from, watchdog, until] = [beforeMinutes, beforeMinutes + watchdogMinutes, beforeMinutes + outageMinutes];
  const early = sent(minutes, from, watchdog);
  const most = (load) => Math.max(...load.map(({ open }) => open));
  const busiest = Math.max(...minutes.slice(until).map((_, at) => sent(minutes, until + at, until + at + 1)));
  const settled = minutes.findIndex(({ open }, at) => at >= until && open <= asBefore * minutes[from - 1].open) + 1 - until;
  return [
    name,
    early / (callsPerMinute * watchdogMinutes), early / sent(plain, from, watchdog), minutes[watchdog - 1].open / plain[watchdog - 1].open,
    sent(minutes, from, until) / (callsPerMinute * outageMinutes), most(minutes) / most(plain),
    busiest / callsPerMinute, settled > 0 ? settled : 'not yet', minutes.at(-1).failed,
  ];
}

const sent = (minutes, from, to) => minutes[to - 1].sent - (minutes[from - 1]?.sent ?? 0);

function phaseOf(minute) {
  if (minute <= beforeMinutes) return `${minute}`;
  return minute <= beforeMinutes + outageMinutes ? `${minute} outage` : `${minute} after`;
}
