import { fileURLToPath } from 'node:url';
import { startService } from '../../support/child.mjs';
import { contestants, inOutage } from './contestants.mjs';
import { figuresOf } from './figuresOf.mjs';
import { measureRound } from './measureRound.mjs';
import { reportLateness, reportMachine, reportOutage, reportTail } from './report.mjs';
import { timeScale } from './timeScale.mjs';

const small = ['openai', 'ai, chunkMs 20 s, second model', 'langchain, withFallbacks, chunk time-out 120 s *', 'polygateway stream$, 2 sources', 'polygateway chat$, 2 sources'];
const smallOutage = ['openai', 'polygateway, 2 sources, no cap', 'polygateway, 2 sources, MAX_RATIO 0.1'];

/** The workload on real sockets; prints the table and answers what was measured. */
export async function measureSockets({ rounds, calls, callsPerS, seed, quick }) {
  console.log(`## On real sockets, ${timeScale} times as fast\n`);
  const measured = await measure({ contestants: quick ? picked(contestants, small) : contestants, rounds, calls, callsPerS, seed });
  const figures = measured.map(figuresOf);
  console.log(`${reportTail(figures)}\n\n${reportLateness(figures)}\n${reportMachine(figures)}\n- ${rounds} rounds of ${calls} calls, ${callsPerS} calls/s (Poisson), seeds from ${seed}\n`);
  return measured;
}

/** All sources stand still for `forS` in the middle of the calls. */
export async function measureOutage({ rounds, calls, callsPerS, seed, quick }) {
  const lastS = (calls / callsPerS) * timeScale;
  const outage = { fromS: lastS / 3, forS: Math.min(60, lastS / 3) };
  console.log(`## A general outage: every source silent for ${outage.forS.toFixed(0)} s\n`);
  const measured = await measure({ contestants: quick ? picked(inOutage, smallOutage) : inOutage, rounds, calls, callsPerS, seed, outage });
  const figures = measured.map(figuresOf);
  console.log(`${reportOutage(figures)}\n\n${reportMachine(figures)}\n`);
  return measured;
}

async function measure({ contestants: taking, rounds, calls, callsPerS, seed, outage }) {
  const upstream = await startService(fileURLToPath(new URL('upstream.mjs', import.meta.url)));
  const measured = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      measured.push(await measureRound({ upstream, contestants: taking, first: round * 3, seed: seed + round, calls, callsPerS, outage }));
    }
  } finally {
    upstream.stop();
  }
  return measured;
}

const picked = (all, names) => Object.fromEntries(names.map((name) => [name, all[name]]));
