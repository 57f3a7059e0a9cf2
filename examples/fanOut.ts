import { catchError, filter, from, map, mergeMap, of, scan, startWith, timeInterval, toArray } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import type { ChatResponse, Gateway } from 'polygateway';

/** What became of the prompt at `index`. */
export type Outcome =
  | { readonly type: 'answered'; readonly index: number; readonly response: ChatResponse }
  | { readonly type: 'failed'; readonly index: number; readonly error: unknown };

export type Step = { readonly type: 'started'; readonly index: number } | Outcome;

/**
 * Asks all prompts, `concurrency` at a time; outcomes as they come, each with the index of its prompt.
 *
 *     prompts:  (abcd|)                    concurrency: 2
 *     sockets:  ^--------------!           a
 *               ^---!                      b, which fails: that ends nothing
 *               ----^-----!                c
 *               ----------^--------!       d
 *     result:   (ss)(fs)--(as)-a---(a|)    s = started, a = answered, f = failed
 *
 * It never fails. What is beyond the limits of the sources waits inside the gateway, so `concurrency` may be the higher of the
 * two. Unsubscribing closes every socket and asks nothing more.
 *
 *     fanOut(gateway, prompts).pipe(progress(prompts.length)).subscribe({ next: draw })
 */
export function fanOut(gateway: Pick<Gateway, 'chat$'>, prompts: readonly string[], { concurrency = 50 }: { readonly concurrency?: number } = {}): Observable<Step> {
  return from(prompts).pipe(
    mergeMap(
      (content, index) =>
        gateway.chat$({ messages: [{ role: 'user', content }] }).pipe(
          map((response): Step => ({ type: 'answered', index, response })),
          catchError((error: unknown) => of<Step>({ type: 'failed', index, error })),
          startWith<Step>({ type: 'started', index }),
        ),
      concurrency,
    ),
  );
}

/** All outcomes in the order of the prompts, once the last one is in. */
export function inPromptOrder(): OperatorFunction<Step, readonly Outcome[]> {
  return (step$) =>
    step$.pipe(
      filter((step) => step.type !== 'started'),
      toArray(),
      map((outcomes) => outcomes.sort((one, other) => one.index - other.index)),
    );
}

export interface Progress {
  readonly running: number;
  readonly done: number;
  readonly failed: number;
  /** Model time of the answers without its silences, and time since the start. */
  readonly netMs: number;
  readonly wallMs: number;
  /** Time until the last outcome, if the rest goes as it went so far; `null` before the first. */
  readonly etaMs: number | null;
}

const nothingYet: Progress = { running: 0, done: 0, failed: 0, netMs: 0, wallMs: 0, etaMs: null };

/** Where a fan-out over `total` prompts stands, after each step. */
export function progress(total: number): OperatorFunction<Step, Progress> {
  return (step$) =>
    step$.pipe(
      timeInterval(),
      scan((before, { value, interval }) => withEta(after(before, value), before.wallMs + interval, total), nothingYet),
    );
}

function after(before: Progress, step: Step): Progress {
  switch (step.type) {
    case 'started':
      return { ...before, running: before.running + 1 };
    case 'answered':
      return { ...before, running: before.running - 1, done: before.done + 1, netMs: before.netMs + step.response.stats.generationMs };
    case 'failed':
      return { ...before, running: before.running - 1, failed: before.failed + 1 };
    default:
      return step satisfies never;
  }
}

function withEta(progress: Progress, wallMs: number, total: number): Progress {
  const ended = progress.done + progress.failed;
  return { ...progress, wallMs, etaMs: ended === 0 ? null : (wallMs / ended) * (total - ended) };
}
