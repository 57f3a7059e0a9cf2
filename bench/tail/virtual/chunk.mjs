// One process's share of the calls, each a call of the real gateway in virtual time; prints one line of JSON.
import { catchError, concatMap, from, map, of, tap } from 'rxjs';
import { importBuilt } from '../../support/places.mjs';
import { openWorkload, shape } from '../workload.mjs';
import { limits } from './limits.mjs';
import { openScheduler } from './openScheduler.mjs';
import { requestFor, timelineSource } from './timelineSource.mjs';

const { createGateway } = await importBuilt('index.js');
const { seed, fromId, count, sources, settings, interTokenTimeoutMs } = JSON.parse(process.argv[2]);
const workload = openWorkload({ seed, sources, from: fromId });
const callsPerScheduler = 500; // A scheduler keeps a cancelled timer until it is due.
const outcomes = [];

for (let left = count; left > 0; left -= callsPerScheduler) {
  playSome(Array.from({ length: Math.min(left, callsPerScheduler) }, () => workload.next()));
}
if (outcomes.length !== count) throw new Error(`${count} calls were made and ${outcomes.length} ended. Look for one that neither completes nor fails.`);
console.log(JSON.stringify(outcomes));

function playSome(calls) {
  const byId = new Map(calls.map((call) => [call.id, call]));
  const scheduler = openScheduler();
  let tokens = 0;
  const counted = tap(({ type }) => { if (type === 'content') tokens += shape.pace.tokensPerDelta; });
  const around = (delta$) => delta$.pipe(counted);
  const sourceOf = (id) => ({ ...timelineSource({ id, callOf: (callId) => byId.get(callId), scheduler, around }), limits: { ...limits, interTokenTimeoutMs } });

  scheduler.run(() => {
    const { chat$ } = createGateway({ settings: { scope: 'TAIL', ...settings, sources: [] }, sources: sources.map(sourceOf), scheduler, random: () => 1 });
    const play = (call) => {
      const startMs = scheduler.now();
      tokens = 0;
      const outcome = (requests, failed) => ({ ms: scheduler.now() - startMs, requests, tokens, failed });
      return chat$(requestFor(call)).pipe(
        map(({ stats }) => outcome(stats.attempts, false)),
        catchError(({ attempts }) => of(outcome(attempts, true))),
      );
    };
    // One after the other, so that a call meets nothing but its own fate.
    from(calls).pipe(concatMap(play)).subscribe((outcome) => outcomes.push(outcome));
  });
}
