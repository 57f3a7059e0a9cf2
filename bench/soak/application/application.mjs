// The process that is watched: it uses the product as an application would that runs for long, and does what it is told.
import './liveTimers.mjs';
import './redisClients.mjs';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeHeapSnapshot } from 'node:v8';
import { answersTo } from '../child.mjs';
import { openCallers } from './callers.mjs';
import { abortListeners, collected, processState } from './processState.mjs';
import { openScopes } from './scopes.mjs';

const { seed, callers: count, ...given } = JSON.parse(process.argv[2]);
const outcomes = {};
const events = {};
const none = { calls: 0, attempts: 0, permits: 0, waiters: 0 };
const tell = (finding) => process.send({ finding });
const told = (what) => (error) => tell(`${what}: ${error?.stack ?? error}`);
process.on('unhandledRejection', told('unhandled rejection'));
process.on('uncaughtException', told('uncaught exception'));
process.on('warning', told('warning'));

let scopes;
const callers = openCallers({ count, seed, scopesNow: () => scopes, note });

answersTo({
  open: () => { scopes = open(); },
  work: () => callers.work(),
  rest: () => callers.rest(),
  /** New settings: new calls go to new gateways, the old ones are closed while calls are in flight. */
  async reload() {
    const old = scopes;
    scopes = open();
    await old.close();
    await callersOf(old);
  },
  /** The last gateways are closed as they are, with calls in flight, which the application's own signal ends. */
  async end() {
    const resting = callers.rest();
    scopes.owner.abort();
    await scopes.close();
    await resting;
    scopes = undefined;
  },
  async sample({ collects }) {
    if (collects) await collected();
    return { ...processState(), ...(scopes === undefined ? none : { ...scopes.figures(), abortListeners: abortListeners(scopes.owner.signal) }) };
  },
  snapshot: (file) => void writeHeapSnapshot(file),
  stuck: () => callers.stuck(30_000),
  counts: () => ({ calls: callers.calls(), outcomes, events }),
});
process.send({ pid: process.pid });

function open() {
  return openScopes({ ...given, onRows, onEvent: ({ type }) => { events[type] = (events[type] ?? 0) + 1; } });
}

/** Rows that do not go to the database, for the one who keeps account. */
function onRows(rows) {
  process.send({ rows: rows.map(({ tags, outcome, http_status: status, increments }) => ({ call: Number(JSON.parse(tags).call), answered: Number(outcome === 'ok' || status !== null || increments > 0) })) });
}

function note(outcome, error) {
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  if (error !== undefined) told(outcome)(error);
}

/** A closed gateway has ended its calls, in the turn in which it was closed; the signal is nobody's then. */
async function callersOf(old) {
  await sleep(0);
  const left = abortListeners(old.owner.signal);
  const { permits, ...others } = old.figures();
  if (left + permits + others.calls + others.attempts + others.waiters > 0) tell(`a closed gateway still holds ${JSON.stringify({ left, permits, ...others })}`);
}
