import { setTimeout as sleep } from 'node:timers/promises';

/** What has to be gone, and not only no more than before, when no call is in flight. */
export const heldByCalls = ['calls', 'attempts', 'permits', 'waiters', 'abortListeners'];
/** What has to be no more than it was before. */
export const heldByProcess = ['sockets', 'files', 'threads', 'timers', 'handles', 'processListeners', 'redisClients', 'redisListeners'];

/** Half of a lease's lifetime. */
const patienceS = 10;

/**
 * One life of the application's gateways: they are opened, work for periods with a rest after each, and are closed in the midst of work.
 * Answers the samples under load, those at rest, and what was in Redis.
 */
export async function live(world, plan) {
  const { application } = world;
  const told = { loaded: [], rested: [], keys: [] };
  const startedMs = performance.now();
  await application.ask('open');
  for (let period = 0; period < plan.periods || performance.now() - startedMs < plan.minutes * 60_000; period += 1) {
    await application.ask('work');
    const troubles = [reload(world, plan), ...(period % 2 === 0 ? [killRedis(world, plan)] : [])];
    await sampled(world, { ...plan, startedMs, told });
    await Promise.all(troubles);
    await rest(world, { startedMs, told });
  }
  await application.ask('work');
  await sleep(plan.lastS * 1000);
  await application.ask('end');
  return told;
}

async function sampled({ application, redis }, { periodS, sampleS, collects, startedMs, told }) {
  for (const untilMs = performance.now() + periodS * 1000; performance.now() < untilMs; ) {
    await sleep(sampleS * 1000);
    told.loaded.push({ atS: (performance.now() - startedMs) / 1000, ...(await application.ask('sample', { collects })) });
    told.keys.push(await redis.look());
  }
}

async function rest({ application, redis, findings, ownSockets }, { startedMs, told }) {
  const resting = application.ask('rest');
  while ((await Promise.race([resting, sleep(1000, 'not yet')])) === 'not yet') {
    const stuck = await application.ask('stuck');
    if (stuck.length > 0) throw new Error(`These calls have not ended after 30 s: ${stuck.join(', ')}. What was found until then:\n${findings.join('\n')}`);
  }
  const figures = await application.ask('sample', { collects: true });
  for (const name of heldByCalls) if (figures[name] > 0) findings.push(`at rest, without a call in flight, ${name} is ${figures[name]}`);
  told.keys.push(await leasesGone(redis, findings));
  told.rested.push({ atS: (performance.now() - startedMs) / 1000, ...(await connectionsGone(application, { findings, ownSockets })) });
}

/** What was not said to Redis while it was away is said now, and long before the leases would run out by themselves. */
async function leasesGone(redis, findings) {
  const found = await polled(() => redis.look(), (look) => look?.leases === 0);
  if (found?.leases !== 0) findings.push(`${patienceS} s after the last call Redis still holds ${found?.leases} leases`);
  return found;
}

/** Kept connections end after a second or two; then there is one to Redis for each of its clients, beside those from before. */
async function connectionsGone(application, { findings, ownSockets }) {
  const isGone = ({ sockets, redisClients }) => sockets <= redisClients + ownSockets;
  const found = await polled(() => application.ask('sample', { collects: true }), isGone);
  if (!isGone(found)) findings.push(`${patienceS} s after the last call ${found.sockets} sockets are open, for ${found.redisClients} clients of Redis and ${ownSockets} from before`);
  return found;
}

async function polled(look, isWanted) {
  for (const untilMs = performance.now() + patienceS * 1000; ; await sleep(200)) {
    const found = await look();
    if (isWanted(found) || performance.now() > untilMs) return found;
  }
}

/** The keys that are left when all but the state of sources, which is kept for a day, has had its time. */
export async function keysForgotten(redis, limitS) {
  for (let waitedS = 0; ; waitedS += 1) {
    const found = await redis.look();
    if (waitedS >= limitS || momentary(found).length === 0) return found;
    await sleep(1000);
  }
}

export const momentary = ({ kinds }) => kinds.filter((kind) => !['source', 'breaker'].includes(kind));

async function reload({ application, random }, { periodS }) {
  await sleep(periodS * 1000 * (0.2 + 0.6 * random()));
  await application.ask('reload');
}

async function killRedis({ redis, random }, { periodS }) {
  await sleep(periodS * 1000 * 0.6 * random());
  await redis.kill();
  await sleep(Math.min(3000, periodS * 1000 * 0.3) * random());
  await redis.restart();
}

/** Connections and threads take a moment to end: the figures when they no longer change, or are back to those given. */
export async function settled(application, goal) {
  let last = await application.ask('sample', { collects: true });
  for (let tries = 0, still = 0; tries < 60 && still < 4; tries += 1) {
    await sleep(200);
    const next = await application.ask('sample', { collects: true });
    const isSame = heldByProcess.every((name) => next[name] === last[name]);
    const isBack = goal === undefined || heldByProcess.every((name) => next[name] <= goal[name]);
    still = isSame && isBack ? still + 1 : 0;
    last = next;
  }
  return last;
}
