import { EMPTY, catchError, concatMap, defer, filter, identity } from 'rxjs';
import type { MonoTypeOperatorFunction, Observable } from 'rxjs';
import { attemptError, errorFacts, messageOf, toAttemptError } from '../model/errors.js';
import type { AttemptError } from '../model/errors.js';
import type { HedgeTrigger, OfAttempt } from '../model/events.js';
import { NoneAdmitted, admitFirst, decided } from '../governance/admit.js';
import { moreHopeful } from '../governance/retry/ledger.js';
import { hedge } from '../operators/hedge.js';
import { hedgeUntilFirst } from '../operators/hedgeUntilFirst.js';
import { silence } from '../operators/silence.js';
import type { SilenceKind } from '../operators/silence.js';
import { attempt, openAttempt } from './attempt.js';
import { isCompleted, isFigures, isWeak, lastIncrementMs } from './attemptSpec.js';
import type { AttemptSpec, Progress } from './attemptSpec.js';
import type { CallState } from './callState.js';
import type { Ports } from './ports.js';

/** The round that may be hedged. */
export interface HedgedRound<A> {
  readonly call: CallState<A>;
  readonly primary: AttemptSpec<A>;
  readonly ports: Ports;
}

/** Nothing at all while no hedge key is set, or none that this request can use (H1, H2). */
export function hedged<A>(round: HedgedRound<A>): MonoTypeOperatorFunction<Progress<A>> {
  const { call, primary, ports } = round;
  const { policy } = ports;
  const { clock: scheduler } = primary;
  const firstMs = policy.hedgeAfterMs;
  // Of an answer that is passed on, only the first word can be hedged (H12).
  const passesOn = primary.exchange.said !== undefined;
  const betweenMs = call.task.streamed && !passesOn ? policy.hedgeStallAfterMs : null;
  if (firstMs === null && betweenMs === null) return identity;

  // One turn more than the watchdog takes, which goes first where both are due (T4).
  const silent = { betweenMs, counts: hasIncrement, lastMs: lastIncrementMs, turns: 2, scheduler };
  const when = (progress$: Observable<Progress<A>>): Observable<SilenceKind> =>
    progress$.pipe(
      silence({ ...silent, firstMs }),
      filter((kind) => noticed(round, kind)),
    );

  if (passesOn) return hedgeUntilFirst<Progress<A>, SilenceKind>({ when, backup: (kind) => backup(round, triggerOf(kind)), speaks, combine: combineBoth });
  return hedge<Progress<A>, SilenceKind>({
    when,
    // A start counts like an increment here (H14).
    again: (progress$) => progress$.pipe(silence({ ...silent, firstMs: betweenMs })),
    maxBackups: policy.hedgeMaxBackups,
    backup: (kind) => backup(round, triggerOf(kind)),
    combine: combineAll,
    isWeak: isWeakCompletion,
    onDecided: () => { call.endedBy = 'hedge_cancelled'; },
    scheduler,
  });
}

/** Starts at another source, admitted without waiting; whatever refuses it, the round goes on as if nothing were (H3). */
function backup<A>({ call, primary, ports }: HedgedRound<A>, trigger: HedgeTrigger): Observable<Progress<A>> {
  return defer(() => {
    const running = [...call.live];
    // Its end is near (H15).
    if (running.some(({ exchange }) => exchange.reply.finished)) return EMPTY;
    const sources = call.runnable().sources.filter(({ id }) => !running.some(({ admitted }) => admitted.source.id === id));
    const admitted$ = admitFirst({ sources, gate: ports.governance.admission, ticketFor: (source) => call.ticketFor(source, 'backup', call.rounds) });
    return decided(ports.governance, admitted$).pipe(
      catchError((error: unknown) => {
        ports.report({ type: 'hedge-refused', ...named(call, primary), gate: error instanceof NoneAdmitted ? error.gate : 'backend', reason: messageOf(error) });
        return EMPTY;
      }),
      concatMap((admitted) => attempt(call, openAttempt(call, { admitted, role: 'backup', round: call.rounds, trigger, onBooked: primary.onBooked }, ports), ports)),
    );
  });
}

/** Tells of a silence, and whether it is one: of an answer that is finished, what is waited for is no increment (H15). */
function noticed<A>({ call, primary, ports: { policy, report } }: HedgedRound<A>, kind: SilenceKind): boolean {
  if (primary.exchange.reply.finished) return false;
  const silentMs = (kind === 'first' ? policy.hedgeAfterMs : policy.hedgeStallAfterMs) ?? 0;
  report({ type: 'silence-noticed', ...named(call, primary), trigger: triggerOf(kind), silentMs });
  return true;
}

/** The start of an attempt is told too, and is no sign of life. */
const hasIncrement = <A>(progress: Progress<A>): boolean => !isFigures(progress) || progress.count > 0;

const speaks = <A>(progress: Progress<A>): boolean => !isFigures(progress);

const isWeakCompletion = <A>(last: Progress<A>): boolean => isCompleted(last) && isWeak(last);

const named = ({ id }: CallState<unknown>, primary: AttemptSpec<unknown>): OfAttempt => ({ callId: id, attemptId: primary.id, source: primary.admitted.source.id });

const triggerOf = (kind: SilenceKind): HedgeTrigger => (kind === 'first' ? 'first_increment' : 'stall');

/** The failures of one round count once, with the most hopeful class, and carry all causes (H7). */
function combineAll({ primary, backups }: { readonly primary: unknown; readonly backups: readonly unknown[] }): AttemptError {
  const failures = [primary, ...backups].map(toAttemptError);
  const hopeful = failures.reduce(moreHopeful);
  const number = failures.length === 2 ? 'both' : `all ${failures.length}`;
  return attemptError(hopeful.code, `${number} attempts failed: ${failures.map(({ message }) => message).join('; ')}`, {
    ...errorFacts(hopeful),
    cause: new AggregateError(failures, failures.length === 2 ? 'primary and backup' : 'primary and backups'),
  });
}

function combineBoth({ primary, backup: other }: { readonly primary: unknown; readonly backup: unknown }): AttemptError {
  return combineAll({ primary, backups: [other] });
}
