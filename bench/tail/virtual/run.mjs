import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { describe } from '../../support/machine.mjs';
import { parseOptions } from '../../support/options.mjs';
import { repository } from '../../support/places.mjs';
import { linePlot } from '../../support/plot.mjs';
import { table } from '../../support/table.mjs';
import { check, openWorkload } from '../workload.mjs';
import { fields } from './contestants.mjs';
import { figuresOf, head, row, survival } from './figures.mjs';
import { measureOutage, outageTables } from './outage.mjs';
import { byGateway, byRule, differing } from './playCalls.mjs';

const asked = parseOptions(
  { calls: 100_000, seed: 1, processes: Math.min(2, availableParallelism()), callsPerSecond: 1, parts: ['calls', 'correlated', 'outage'], quick: false, json: undefined, plot: undefined },
  { about: 'The tail of call times in virtual time: the gateway, what plain clients do, and foresight. Nothing in it depends on the machine, so there are no rounds.' },
);
const options = asked.quick ? { ...asked, calls: 400, callsPerSecond: 0.1 } : asked;
const { calls, seed, processes } = options;
const raw = {};
const say = (text) => console.log(`${text}\n`);

say(describe(['rxjs']));
if (options.parts.includes('calls')) await compareCalls();
if (options.parts.includes('correlated')) compareCorrelated(0.3);
if (options.parts.includes('outage')) await showOutage();
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(raw));

async function compareCalls() {
  const { next } = openWorkload({ seed });
  say(`### The workload: ${calls} calls, seed ${seed}\n\n${check(Array.from({ length: calls }, next))}`);
  for (const { sources, contestants } of fields) {
    const results = await playAll(contestants, { sources, seed });
    say(`### ${sources.length} sources\n\n${comparison(results)}`);
    say(results.flatMap(({ name, differs }) => (differs === undefined ? [] : [`- ${name}: ${differs} of ${calls} calls differ from its rule in closed form, in milliseconds, requests or tokens.`])).join('\n'));
    raw[`${sources.length} sources`] = Object.fromEntries(results.map(({ name, figures: { ms, ...figures } }) => [name, { ...figures, survival: survival({ ms }) }]));
    drawPlot(results, sources.length);
  }
}

async function playAll(contestants, workload) {
  const results = [];
  for (const contestant of contestants) {
    const ruled = byRule(contestant, workload, calls);
    const played = contestant.settings === undefined ? undefined : await byGateway(contestant, workload, calls, processes);
    results.push({
      name: contestant.name,
      figures: figuresOf(played ?? ruled, delivered(workload)),
      ...(played !== undefined && { differs: differing(played, ruled) }),
    });
  }
  return results;
}

/** A part of the requests is slow wherever it is asked, so that no other source helps. By the rules alone, which were held against the gateway above. */
function compareCorrelated(correlation) {
  const [{ sources, contestants }] = fields;
  const workload = { sources, seed, correlation };
  const results = contestants.map((contestant) => ({ name: contestant.name, figures: figuresOf(byRule(contestant, workload, calls), delivered(workload)) }));
  say(`### 2 sources, and ${correlation * 100} % of the slow calls are slow at every source (in closed form)\n\n${comparison(results)}`);
}

async function showOutage() {
  const load = await measureOutage(options);
  raw.outage = load;
  say(`### A general outage: two sources, ${options.callsPerSecond} calls/s, every stream silent in the middle from minute 4 to 13\n\n${outageTables(load, options)}`);
}

function comparison(results) {
  const wait = results.find(({ name }) => name === 'wait').figures;
  return table(head, results.map(({ name, figures }) => row(name, figures, wait)));
}

function delivered(workload) {
  const { next } = openWorkload(workload);
  return Array.from({ length: calls }, next).reduce((sum, { tokens }) => sum + tokens, 0);
}

function drawPlot(results, sources) {
  const file = options.plot ?? (options.quick ? undefined : join(repository, 'bench', 'results', 'tail.svg'));
  if (file === undefined) return;
  mkdirSync(dirname(file), { recursive: true });
  // Whoever asks every source takes as long as the best of them, which is drawn.
  const drawn = results.filter(({ name }) => name !== 'every source from the start');
  const plot = linePlot({
    title: `Call times with ${sources} sources, ${calls.toLocaleString('en')} calls`,
    x: 'seconds',
    y: 'share of the calls that take longer',
    series: drawn.map(({ name, figures }) => ({ name: name.replace('polygateway', 'hedged'), points: survival(figures) })),
    logX: true,
    logY: true,
  });
  writeFileSync(file.replace(/(\.svg)?$/, `-${sources}-sources.svg`), plot);
}
