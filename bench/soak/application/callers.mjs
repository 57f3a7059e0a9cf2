import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { importBuilt } from '../../support/places.mjs';
import { callKinds } from './callKinds.mjs';

const [{ isCallError }, { mulberry32 }] = await Promise.all([importBuilt('index.js'), importBuilt('lab/mulberry32.js')]);
const names = Object.keys(callKinds);
const pick = (list, random) => list[Math.floor(list.length * random())];

/** So many who call one after the other, as long as they are wanted; each call is drawn by its number and the seed. */
export function openCallers({ count, seed, scopesNow, note }) {
  const inFlight = new Map();
  let lastCall = 0;
  let wanted = false;
  let working = Promise.resolve();

  async function callOn() {
    while (wanted) {
      lastCall += 1;
      const random = mulberry32(seed * 7919 + lastCall);
      inFlight.set(lastCall, performance.now());
      await callOnce({ scopes: scopesNow(), call: lastCall, random, note }).finally(forget(lastCall));
      await sleep(30 * random());
    }
  }

  const forget = (call) => () => inFlight.delete(call);

  return {
    work() {
      wanted = true;
      working = Promise.all(Array.from({ length: count }, callOn));
    },
    /** Settles when every call has ended. */
    rest() {
      wanted = false;
      return working;
    },
    calls: () => lastCall,
    stuck: (afterMs) => [...inFlight].filter(([, startedMs]) => performance.now() - startedMs > afterMs).map(([call]) => call),
  };
}

async function callOnce({ scopes, call, random, note }) {
  const kind = pick(names, random);
  const chat = random() < 0.5 ? scopes.shared : scopes.alone;
  const { signal, done } = signalFor(scopes, random);
  const listener = random() < 0.2 ? chat.events$.subscribe() : undefined;
  const leaving = random() < 0.5 ? setTimeout(() => listener?.unsubscribe(), 300 * random()) : undefined;
  try {
    note(`${kind}: ${await callKinds[kind]({ scopes, chat, call, random, options: signal === undefined ? {} : { signal } })}`);
  } catch (error) {
    note(`${kind}: ${outcomeOf(error, signal)}`, isExpected(error, signal) ? undefined : error);
  }
  done();
  clearTimeout(leaving);
  listener?.unsubscribe();
  const left = signal === undefined || signal === scopes.owner.signal ? 0 : getEventListeners(signal, 'abort').length;
  if (left > 0) note(`${kind}: left ${left} listeners on its signal`, new Error(`call ${call} left ${left} listeners on its signal`));
}

/** None, the one that outlives all calls, or one of its own that may be aborted at a random moment, or before. */
function signalFor({ owner }, random) {
  const draw = random();
  if (draw < 0.4) return { done: () => undefined };
  if (draw < 0.7) return { signal: owner.signal, done: () => undefined };
  const own = new AbortController();
  const abort = () => own.abort(random() < 0.5 ? undefined : new Error('the caller wants no more'));
  if (draw < 0.72) abort();
  const timer = draw < 0.85 ? setTimeout(abort, 500 * random()) : undefined;
  return { signal: own.signal, done: () => clearTimeout(timer) };
}

function isExpected(error, signal) {
  return isCallError(error) || (signal?.aborted === true && error === signal.reason);
}

function outcomeOf(error, signal) {
  if (signal?.aborted === true && error === signal.reason) return 'aborted';
  return isCallError(error) ? [error.code, error.reason].filter(Boolean).join(' ') : 'an error that is none of the library';
}
