import { NEVER, concat, concatMap, defer, finalize, from, map, mergeMap, takeWhile, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { Upstream } from '../model/source.js';

/** A request that a scripted source has seen. */
export interface ScriptedRequest {
  readonly startedMs: number;
  /** When the source was let go, by its own end or by the other side. */
  closedMs: number | null;
}

/** The facts of a scripted source; those left out are made up from the id. */
export interface ScriptedUpstream extends Partial<Omit<Upstream, 'id' | 'provider'>> {
  readonly id: string;
  readonly scheduler?: SchedulerLike;
}

export interface PlayOptions<S, R, T> {
  /** Each request plays the next script; the last one repeats. */
  readonly scripts: readonly (readonly S[])[];
  perform(this: void, step: S, request: R): Observable<T>;
  /** A script without such a step hangs. */
  readonly isLast: (step: S) => boolean;
  readonly scheduler: SchedulerLike;
}

export interface Player<R, T> {
  readonly requests: readonly ScriptedRequest[];
  /** Plays a script from the subscription on, each step scheduled as it comes, as a real source's would. */
  play(this: void, request: R): Observable<T>;
}

/** Plays timelines on a scheduler, one for each request, and keeps a note of the requests. */
export function playScripts<S extends { readonly atMs: number }, R, T>(options: PlayOptions<S, R, T>): Player<R, T> {
  const { scripts, isLast, scheduler } = options;
  const requests: ScriptedRequest[] = [];

  function run(script: readonly S[], request: R): Observable<T> {
    const startMs = scheduler.now();
    const due = (step: S): Observable<S> => timer(Math.max(0, startMs + step.atMs - scheduler.now()), scheduler).pipe(map(() => step));
    return concat(from(script).pipe(concatMap(due)), NEVER).pipe(
      takeWhile((step) => !isLast(step), true),
      mergeMap((step) => options.perform(step, request)),
    );
  }

  return {
    requests,
    play(request) {
      return defer(() => {
        const seen: ScriptedRequest = { startedMs: scheduler.now(), closedMs: null };
        requests.push(seen);
        const script = scripts[Math.min(requests.length, scripts.length) - 1] ?? [];
        return run(script, request).pipe(finalize(() => { seen.closedMs = scheduler.now(); }));
      });
    },
  } satisfies Player<R, T>;
}

/** What the engine knows of a scripted source. */
export function scriptedUpstream({ id, ...facts }: Omit<ScriptedUpstream, 'scheduler'>): Upstream {
  return { id, provider: id.split('/')[0] ?? id, model: 'scripted', limits: {}, ...facts };
}
