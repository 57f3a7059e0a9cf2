import { EMPTY, NEVER, asyncScheduler, concat, concatMap, defer, finalize, from, map, mergeMap, of, takeWhile, throwError, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import type { ChatDelta } from '../model/delta.js';
import type { Source, Upstream } from '../model/source.js';

/** One thing that a scripted source does, `atMs` after the request arrived. A script without an end hangs. */
export type ScriptStep = { readonly atMs: number } & (
  | { readonly type: 'delta'; readonly delta: ChatDelta }
  | { readonly type: 'error'; readonly error: unknown }
  | { readonly type: 'end' }
);

/** A request that a scripted source has seen. */
export interface ScriptedRequest {
  readonly startedMs: number;
  /** When the source was let go, by its own end or by the other side. */
  closedMs: number | null;
}

export interface ScriptedSource extends Source {
  readonly requests: readonly ScriptedRequest[];
}

export interface ScriptedSourceOptions extends Partial<Omit<Upstream, 'id' | 'provider'>> {
  readonly id: string;
  /** Each request plays the next script; the last one repeats. */
  readonly scripts: readonly (readonly ScriptStep[])[];
  readonly scheduler?: SchedulerLike;
}

/** A source that plays timelines on a scheduler; each step is scheduled as it comes, as a real stream's would. */
export function scriptedSource(options: ScriptedSourceOptions): ScriptedSource {
  const { id, scripts, scheduler = asyncScheduler, ...facts } = options;
  const requests: ScriptedRequest[] = [];

  return {
    id,
    provider: id.split('/')[0] ?? id,
    model: 'scripted',
    limits: {},
    ...facts,
    requests,
    stream: () =>
      defer(() => {
        const request: ScriptedRequest = { startedMs: scheduler.now(), closedMs: null };
        requests.push(request);
        const script = scripts[Math.min(requests.length, scripts.length) - 1] ?? [];
        return play(script, scheduler).pipe(finalize(() => { request.closedMs = scheduler.now(); }));
      }),
  };
}

function play(script: readonly ScriptStep[], scheduler: SchedulerLike): Observable<ChatDelta> {
  const startMs = scheduler.now();
  const due = (step: ScriptStep): Observable<ScriptStep> =>
    timer(Math.max(0, startMs + step.atMs - scheduler.now()), scheduler).pipe(map(() => step));
  return concat(from(script).pipe(concatMap(due)), NEVER).pipe(
    takeWhile(({ type }) => type !== 'end'),
    mergeMap(perform),
  );
}

function perform(step: ScriptStep): Observable<ChatDelta> {
  switch (step.type) {
    case 'delta':
      return of(step.delta);
    case 'error':
      return throwError(() => step.error);
    case 'end':
      return EMPTY;
    default:
      return step satisfies never;
  }
}
