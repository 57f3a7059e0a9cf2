// One measurement of one contestant, in a process of its own; prints it as a line of JSON.    node measure.mjs '{"contestant":…,"scene":…,"port":…}'
import { writeSync } from 'node:fs';
import { recordProfile } from '../profile/recordProfile.mjs';
import { rssKb } from '../support/processFigures.mjs';
import { contestants, openContestant } from './contestants.mjs';
import { measureCalls } from './measureCalls.mjs';
import { measureFlat } from './measureFlat.mjs';
import { measurePaced } from './measurePaced.mjs';
import { beforeMetering } from './meter.mjs';

const { contestant, scene, port, upstreamPid, profileTo } = JSON.parse(process.argv[2]);
const measureKind = { flat: measureFlat, calls: measureCalls, paced: measurePaced }[scene.kind];

const profile = profileTo === undefined ? undefined : recordProfile();
if (profile !== undefined) beforeMetering(profile.start);

const startedMs = performance.now();
const { call, close } = await openContestant(contestant);
const openMs = performance.now() - startedMs;
const openMb = rssKb() / 1024;
const baseUrlOf = ({ deltas, shape: [mode, argument] }, gate = 0) => `http://127.0.0.1:${port}/s/${deltas}/${mode}/${argument}/${gate}/v1`;
const figures = await measureKind({ call, scene, baseUrlOf, upstreamPid, whole: contestants[contestant].whole === true });
profile?.save(profileTo);
await close();
writeSync(1, `${JSON.stringify({ openMs, openMb, ...figures })}\n`);
process.exit(0);
