// Is a stream called silent that only waited for a blocked loop? 2,000 streams with a delta each 250 ms, a limit of 1 s, one block of 3 s.
//   node bench/falseStalls/run.mjs [--rounds 1] [--streams 2000] [--bodies plain,tls,gzip] [--places timer] [--contestants polygateway,naive] [--quick] [--json FILE]
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { measureIn, startService } from '../support/child.mjs';
import { describe, watchOthers } from '../support/machine.mjs';
import { parseOptions, refuse } from '../support/options.mjs';
import { table } from '../support/table.mjs';
import { places } from './places.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const options = parseOptions({ rounds: 1, streams: 2000, bodies: ['plain', 'tls', 'gzip'], places: Object.keys(places), contestants: ['polygateway', 'naive'], quick: false, json: undefined });
const placeNames = options.quick ? ['data callback'] : options.places;
const { streams, blockMs } = options.quick ? { streams: 40, blockMs: 1500 } : { streams: options.streams, blockMs: 3000 };
const unknown = placeNames.filter((name) => !(name in places));
if (unknown.length > 0) refuse(`There is no place '${unknown[0]}'. There are: ${Object.keys(places).join(', ')}.`);
const opensPerS = { plain: 1000, gzip: 1000, tls: 300 };
const silentMs = 1000;
const deltaMs = 250;

console.log(`${describe(['undici', 'rxjs'])}\n`);
const others = watchOthers();
const measurements = [];
for (let round = 1; round <= options.rounds; round += 1) {
  for (const body of options.bodies) for (const place of placeNames) for (const contestant of options.contestants) measurements.push(await measureOne({ round, body, place, contestant }));
}
console.log(`${streams} streams, a delta each ${deltaMs} ms, limit ${silentMs} ms, one block of ${blockMs} ms; rounds: ${options.rounds}, cores used by others: ${others.stop().toFixed(2)}\n`);
console.log(table(['body', 'block in', 'contestant', 'false stalls', 'of them', 'true silence noticed', 'longest pause of the upstream, ms'], measurements.map(rowOf)));
const bad = measurements.filter(({ contestant, error, ...rest }) => error !== undefined || (contestant === 'polygateway' && (total(rest) > 0 || rest.noticed < streams)));
console.log(`\nGoal: none, and true silence noticed in all ${streams}. ${bad.length === 0 ? 'Met.' : `Not met in ${bad.length} of ${measurements.length}.`}`);
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(measurements, null, 1));
process.exit(bad.length === 0 ? 0 : 1);

// An upstream for each, since it falls silent at the end.
async function measureOne(facts) {
  const upstream = await startService(here('upstream.mjs'));
  const control = `http://127.0.0.1:${upstream.plain}`;
  const baseUrl = facts.body === 'tls' ? `https://127.0.0.1:${upstream.tls}` : `${control}/${facts.body}`;
  const task = { ...facts, control, baseUrl, streams, blockMs, silentMs, deltaMs, opensPerS: opensPerS[facts.body] };
  const env = upstream.certificate === undefined ? {} : { NODE_EXTRA_CA_CERTS: upstream.certificate };
  const figures = await measureIn(here('measure.mjs'), [JSON.stringify(task)], { env, timeoutMs: 180_000 }).then(checked).catch(({ message }) => ({ error: message }));
  if (figures.error !== undefined) console.error(`${Object.values(facts).join(', ')}: ${figures.error}`);
  upstream.stop();
  return { ...facts, ...figures };
}

/** Where the upstream itself was silent, a stall is none that is false; none at all needs no excuse. */
function checked(figures) {
  if (total(figures) > 0 && figures.upstreamPauseMs >= silentMs / 2) throw new Error(`The upstream paused for ${figures.upstreamPauseMs} ms: the machine is too busy to measure this.`);
  return figures;
}

function total({ falseStalls = {} }) {
  return Object.values(falseStalls).reduce((sum, count) => sum + count, 0);
}

function rowOf({ body, place, contestant, error, ...rest }) {
  if (error !== undefined) return [body, place, contestant, 'failed', '–', '–', '–'];
  const kinds = Object.entries(rest.falseStalls).map(([kind, count]) => `${kind} ${count}`);
  return [body, place, contestant, total(rest), kinds.join(', ') || '–', rest.noticed, rest.upstreamPauseMs];
}
