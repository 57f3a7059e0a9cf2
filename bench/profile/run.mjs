// Where a contestant's processor time goes in a scene of bench/streams.
//   node bench/profile/run.mjs [--contestants stream$,floor] [--scene flat1-batch] [--top 30] [--quick] [--keep FOLDER]
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { measureIn, startService } from '../support/child.mjs';
import { describe } from '../support/machine.mjs';
import { parseOptions, refuse } from '../support/options.mjs';
import { contestantNamed } from '../streams/contestants.mjs';
import { quickScene, scenes } from '../streams/scenes.mjs';
import { profileText } from './profileText.mjs';
import { readProfile } from './readProfile.mjs';

const options = parseOptions({ contestants: ['stream$'], scene: 'flat1-batch', top: 30, quick: false, keep: undefined });
if (!(options.scene in scenes)) refuse(`There is no scene '${options.scene}'. There are: ${Object.keys(scenes).join(', ')}.`);
const scene = options.quick ? quickScene(scenes[options.scene]) : longer(scenes[options.scene]);
const streams = (name) => fileURLToPath(new URL(`../streams/${name}`, import.meta.url));

if (options.keep !== undefined) mkdirSync(options.keep, { recursive: true });
const upstream = await startService(streams('upstream/main.mjs'));
console.log(`${describe(['undici', 'eventsource-parser', 'rxjs'])}\n`);
for (const [at, name] of options.contestants.map(contestantNamed).entries()) {
  const profile = await takeProfile({ contestant: name, scene, port: upstream.ports[at], upstreamPid: upstream.pid });
  console.log(`### ${name}, ${options.scene}\n\n\`\`\`\n${profileText(readProfile(profile), options.top)}\n\`\`\`\n`);
}
upstream.stop();
process.exit(0);

async function takeProfile(task) {
  const folder = options.keep ?? mkdtempSync(join(tmpdir(), 'polygateway-bench-'));
  const profileTo = join(folder, `${task.contestant.replace(/\W+/g, '-')}.cpuprofile`);
  await measureIn(streams('measure.mjs'), [JSON.stringify({ ...task, profileTo })]);
  const profile = JSON.parse(readFileSync(profileTo, 'utf8'));
  if (options.keep === undefined) rmSync(folder, { recursive: true });
  return profile;
}

// A second of flat-out streams is too little for what is rare.
function longer(given) {
  return given.kind === 'paced' ? given : { ...given, forMs: 8000, mostRepeats: 1000 };
}
