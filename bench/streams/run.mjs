// What a streamed delta, a short call and an open stream cost: contestants in turns against one upstream, each measurement in a fresh process.
//   node bench/streams/run.mjs [--rounds 5] [--quick] [--scenes flat1-batch,calls-c1] [--contestants floor,stream$] [--json FILE]
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { measureIn, startService } from '../support/child.mjs';
import { describe, watchOthers } from '../support/machine.mjs';
import { parseOptions, refuse } from '../support/options.mjs';
import { importPeer } from '../support/places.mjs';
import { contestantNamed, contestants } from './contestants.mjs';
import { summary } from './goals.mjs';
import { quickScene, scenes } from './scenes.mjs';
import { sceneTable } from './sceneTable.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const options = parseOptions({ rounds: 5, quick: false, scenes: Object.keys(scenes), contestants: Object.keys(contestants), json: undefined });
const rounds = options.quick ? 1 : options.rounds;
const names = options.contestants.map(contestantNamed);
const unknown = options.scenes.filter((name) => !(name in scenes));
if (unknown.length > 0) refuse(`There is no scene '${unknown[0]}'. There are: ${Object.keys(scenes).join(', ')}.`);
if (names.some((name) => contestants[name].peer)) await importPeer('openai').catch(({ message }) => refuse(message));

const upstream = await startService(here('upstream/main.mjs'));
const measurements = [];
let portAt = 0;

console.log(`${describe(['undici', 'eventsource-parser', 'rxjs', 'openai', 'ai', '@ai-sdk/openai-compatible', '@langchain/openai'])}\n`);
for (const name of options.scenes) {
  const scene = options.quick ? quickScene(scenes[name]) : scenes[name];
  const others = watchOthers();
  for (let round = 1; round <= rounds; round += 1) for (const contestant of names) measurements.push(await measureOne({ name, scene, round, contestant }));
  const ofScene = measurements.filter((measurement) => measurement.scene === name);
  console.log(`${sceneTable({ name, scene, names, rounds, measurements: ofScene, others: others.stop() })}\n`);
}
console.log(options.quick ? 'A quick run says nothing about speed, so that no goal is looked at.' : summary({ names, scenes: options.scenes, measurements }));
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(measurements, null, 1));
upstream.stop();
process.exit(measurements.some(({ error }) => error !== undefined) ? 1 : 0);

async function measureOne({ name, scene, round, contestant }) {
  portAt += 1;
  const port = upstream.ports[portAt % upstream.ports.length];
  const task = JSON.stringify({ contestant, scene, port, upstreamPid: upstream.pid });
  const figures = await measureIn(here('measure.mjs'), [task], { timeoutMs: 300_000 }).catch(({ message }) => ({ error: message }));
  if (process.stderr.isTTY || figures.error !== undefined) console.error(`${name}, round ${round}/${rounds}, ${contestant}${figures.error === undefined ? '' : `: ${figures.error}`}`);
  return { scene: name, round, contestant, ...figures };
}
