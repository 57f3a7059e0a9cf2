import { asyncScheduler, catchError, defer, finalize, throwError } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { RequestError, attemptError, errorFacts, messageOf, toAttemptError } from '../model/errors.js';
import type { ValidRequest } from '../model/request.js';
import type { Source, SourceLimits } from '../model/source.js';
import { scriptedUpstream } from '../sources/playScripts.js';
import { scriptedSource as playedSource } from '../sources/scriptedSource.js';
import { checkLetters } from './checkLetters.js';
import { stepsOf } from './script.js';
import type { Script, ScriptLetters } from './script.js';

/** A request that a scripted source was sent; times in ms of its scheduler. */
export interface SentRequest {
  readonly request: ValidRequest;
  readonly startedMs: number;
  /** When its socket was closed, by its own end or by the other side; `null` while it is open. */
  readonly closedMs: number | null;
}

/** The form in which RxJS keeps subscriptions, for `expectSubscriptions`. */
export type SocketLog = Parameters<TestScheduler['expectSubscriptions']>[0][number];

/** A source whose answers are written down; it remembers what it was sent. */
export interface ScriptedSource extends Source {
  readonly requests: readonly SentRequest[];
  /** One for each request: when its socket was opened and closed. It is filled as time goes by. */
  readonly subscriptions: SocketLog[];
}

/** The facts of the source port; those left out are what an HTTP source has by default. */
export interface ScriptedSourceOptions extends ScriptLetters, Partial<Omit<Source, 'stream'>> {
  /** Default: RxJS's own, which is virtual inside `TestScheduler.run`. */
  readonly scheduler?: SchedulerLike;
}

/** What `TTFT_TIMEOUT_S` and `TIMEOUT_S` are by default. */
const defaultLimits: SourceLimits = { ttftTimeoutMs: 120_000, timeoutMs: 300_000 };

/**
 * A source that answers each request by the next script; the last one repeats.
 *
 *     script:    -a--b 20s c|        1 ms a character; 20s between spaces; | is an answer's proper end, with `stop`
 *     content:   -a--b 20s c         each letter a text, or what `values` says; # or an Error is a failure
 *
 * A script with no end is silent for ever. Times count from the request. Its limits are those of an HTTP source, 120 s for
 * the first increment and 300 s in all, unless `limits` says otherwise (`{}`: none). Unsubscribing closes its socket:
 * `subscriptions` is what `expectSubscriptions` takes.
 *
 * A script may also be a function of the request. Throws where a script cannot be played; one that a request decides fails that request.
 *
 *     const slow = scriptedSource('-a--b 20s c|', { id: 'slow', values: { a: 'Hel', b: 'lo', c: '!' } });
 *     const gateway = testGateway({ sources: [slow, scriptedSource('--x|', { id: 'fast' })] }, testScheduler);
 */
export function scriptedSource(scripts: Script | readonly Script[], options: ScriptedSourceOptions = {}): ScriptedSource {
  const { id = 'scripted', scheduler = asyncScheduler, limits = defaultLimits, values = {}, error, ...facts } = options;
  const letters: ScriptLetters = { values, ...(error === undefined ? {} : { error }) };
  checkLetters(values);
  const scriptOf = inTurn(id, listOf(scripts), letters);
  const requests: SentRequest[] = [];
  const subscriptions: SocketLog[] = [];

  const stream: Source['stream'] = (request, context) =>
    defer(() => {
      const startedMs = scheduler.now();
      const nth = requests.push({ request, startedMs, closedMs: null }) - 1;
      subscriptions.push(socketLog(startedMs, Infinity));
      return playedSource({ id, scheduler, scripts: [scriptOf(request, nth)] }).stream(request, context).pipe(
        catchError((thrown: unknown) => throwError(() => anew(thrown))),
        finalize(() => {
          const closedMs = scheduler.now();
          requests[nth] = { request, startedMs, closedMs };
          subscriptions[nth] = socketLog(startedMs, closedMs);
        }),
      );
    });

  return { ...scriptedUpstream({ ...facts, id, limits }), stream, requests, subscriptions };
}

/** RxJS does not export its class, and looks at these two fields alone. */
function socketLog(subscribedFrame: number, unsubscribedFrame: number): SocketLog {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment
  return { subscribedFrame, unsubscribedFrame };
}

type Steps = ReturnType<typeof stepsOf>;

/** The script of each request. Those that are written down are checked at once, those that a request decides when it comes. */
function inTurn(id: string, scripts: readonly Script[], letters: ScriptLetters): (request: ValidRequest, nth: number) => Steps {
  if (scripts.length === 0) throw new Error(`The source "${id}" has no script. Write one; '-' is a source that never says anything.`);
  const named = (nth: number): string => `The script ${scripts.length === 1 ? '' : `${nth + 1} `}of "${id}"`;
  const ready = scripts.map((script, nth) => (typeof script === 'function' ? script : stepsOf(script, letters, named(nth))));
  return (request, nth) => {
    const script = ready[Math.min(nth, ready.length - 1)] ?? [];
    return typeof script === 'function' ? stepsByRequest(() => stepsOf(script(request, nth), letters, `The script for request ${nth + 1} of "${id}"`)) : script;
  };
}

/** What is wrong with the test is not to be tried again at another source. */
function stepsByRequest(steps: () => Steps): Steps {
  try {
    return steps();
  } catch (cause) {
    throw new RequestError(messageOf(cause), { cause });
  }
}

/** An error of a script is thrown at many requests, and each is told which source and call it is about. */
function anew(thrown: unknown): unknown {
  const error = toAttemptError(thrown);
  if (error !== thrown) return thrown;
  return attemptError(error.code, error.message, { ...errorFacts(error), ...(error.cause === undefined ? {} : { cause: error.cause }) });
}

export function listOf(scripts: Script | readonly Script[]): readonly Script[] {
  return Array.isArray(scripts) ? (scripts as readonly Script[]) : [scripts as Script];
}
