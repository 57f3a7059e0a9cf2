import { EMPTY, asyncScheduler, of, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import type { ChatDelta } from '../model/delta.js';
import type { Source } from '../model/source.js';
import { playScripts, scriptedUpstream } from './playScripts.js';
import type { ScriptedRequest, ScriptedUpstream } from './playScripts.js';

export type { ScriptedRequest } from './playScripts.js';

/** One thing that a scripted source does, `atMs` after the request arrived. A script without an end hangs. */
export type ScriptStep = { readonly atMs: number } & (
  | { readonly type: 'delta'; readonly delta: ChatDelta }
  | { readonly type: 'error'; readonly error: unknown }
  | { readonly type: 'end' }
);

export interface ScriptedSource extends Source {
  readonly requests: readonly ScriptedRequest[];
}

export interface ScriptedSourceOptions extends ScriptedUpstream {
  /** Each request plays the next script; the last one repeats. */
  readonly scripts: readonly (readonly ScriptStep[])[];
}

/** A source that plays timelines on a scheduler; each step is scheduled as it comes, as a real stream's would. */
export function scriptedSource({ scripts, scheduler = asyncScheduler, ...facts }: ScriptedSourceOptions): ScriptedSource {
  const player = playScripts({ scripts, perform, isLast: ({ type }) => type === 'end', scheduler });
  return { ...scriptedUpstream(facts), requests: player.requests, stream: player.play };
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
