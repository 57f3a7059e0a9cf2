import { EMPTY, catchError, concatMap, defer, filter, map, switchMap, takeLast, tap, timer } from 'rxjs';
import type { Observable, OperatorFunction } from 'rxjs';
import { attemptError, errorFacts, messageOf, toAttemptError } from '../model/errors.js';
import type { AttemptError } from '../model/errors.js';
import type { AttemptRecord, HedgeTrigger } from '../model/events.js';
import type { Source } from '../model/source.js';
import { admitFirst } from '../governance/admit.js';
import type { Admitted } from '../governance/admit.js';
import { moreHopeful } from '../governance/retry/ledger.js';
import { finalizeWith } from '../operators/finalizeWith.js';
import { hedge } from '../operators/hedge.js';
import { silence } from '../operators/silence.js';
import type { SilenceKind } from '../operators/silence.js';
import { attempt, openAttempt } from './attempt.js';
import { isWeak } from './attemptSpec.js';
import type { AttemptSpec, Completed, Progress } from './attemptSpec.js';
import type { CallState } from './callState.js';
import type { Ports } from './ports.js';

/** One try of a call: one attempt, or two while it is hedged; emits the winner's completion. */
export function round(call: CallState, admitted: Admitted<Source>, ports: Ports): Observable<Completed> {
  return defer(() => {
    call.rounds += 1;
    const records = openRecords(call, ports);
    const primary = openAttempt(call, { admitted, role: 'primary', round: call.rounds, trigger: null, onBooked: records.add });

    return attempt(call, primary, ports).pipe(
      hedged(call, primary, records.add, ports),
      filter(isCompleted),
      tap({ next: (winner) => { call.winner = winner; } }),
      finalizeWith(() => records.decide(call.rounds)),
      takeLast(1),
    );
  });
}

interface Records {
  add(this: void, record: AttemptRecord): void;
  /** Hands the rows over; only now is it known who won (E1). */
  decide(round: number): void;
}

function openRecords(call: CallState, { report }: Ports): Records {
  const booked: AttemptRecord[] = [];
  return {
    add: (record) => { booked.push(record); },
    decide(roundNumber) {
      const winner = call.winner ?? (call.endedBy === 'deadline' ? call.held : undefined);
      const records = booked.map((record) => ({ ...record, won: record.id === winner?.attemptId }));
      report({ type: 'round-decided', callId: call.id, round: roundNumber, records });
    },
  };
}

/** Nothing at all while no hedge key is set, or none that this request can use (H1, H2). */
function hedged(call: CallState, primary: AttemptSpec, onBooked: AttemptSpec['onBooked'], ports: Ports): OperatorFunction<Progress, Progress> {
  const { policy, scheduler } = ports;
  const firstMs = policy.hedgeAfterMs;
  const betweenMs = call.request.stream ? policy.hedgeStallAfterMs : null;
  if (firstMs === null && betweenMs === null) return (attempt$) => attempt$;

  return hedge<Progress, SilenceKind>({
    when: (progress$) =>
      progress$.pipe(
        silence({ firstMs, betweenMs, scheduler }),
        // One turn more than the watchdog takes, which goes first where both are due (T4).
        switchMap((kind) => timer(0, scheduler).pipe(map(() => kind))),
        filter(() => !primary.fold.finished),
        tap({ next: (kind) => noticed(call, primary, kind, ports) }),
      ),
    backup: (kind) => backup(call, primary, triggerOf(kind), onBooked, ports),
    combine: ({ primary: first, backup: second }) => combineFailures(toAttemptError(first), toAttemptError(second)),
    isWeak: (last) => isCompleted(last) && isWeak(last),
    onDecided: () => { call.endedBy = 'hedge_cancelled'; },
    scheduler,
  });
}

/** Starts at another source, admitted without waiting; whatever refuses it, the primary goes on as if nothing were (H3). */
function backup(call: CallState, primary: AttemptSpec, trigger: HedgeTrigger, onBooked: AttemptSpec['onBooked'], ports: Ports): Observable<Progress> {
  return defer(() => {
    const sources = call.runnable().sources.filter(({ id }) => id !== primary.admitted.source.id);
    const ticket = { callId: call.id, attemptId: call.nextAttemptId(), role: 'backup' as const };
    return admitFirst({ sources, gate: ports.governance.admission, ticket }).pipe(
      catchError((error: unknown) => {
        ports.report({ type: 'hedge-refused', callId: call.id, attemptId: primary.id, reason: messageOf(error) });
        return EMPTY;
      }),
      concatMap((admitted) => attempt(call, openAttempt(call, { admitted, role: 'backup', round: call.rounds, trigger, onBooked }), ports)),
    );
  });
}

function noticed(call: CallState, primary: AttemptSpec, kind: SilenceKind, { policy, report }: Ports): void {
  const silentMs = (kind === 'first' ? policy.hedgeAfterMs : policy.hedgeStallAfterMs) ?? 0;
  report({ type: 'silence-noticed', callId: call.id, attemptId: primary.id, source: primary.admitted.source.id, trigger: triggerOf(kind), silentMs });
}

const triggerOf = (kind: SilenceKind): HedgeTrigger => (kind === 'first' ? 'first_increment' : 'stall');

function isCompleted(progress: Progress): progress is Completed {
  return 'type' in progress;
}

/** Two failures of one round count once, with the more hopeful class, and carry both causes (H7). */
function combineFailures(first: AttemptError, second: AttemptError): AttemptError {
  const hopeful = moreHopeful(first, second);
  return attemptError(hopeful.code, `both attempts failed: ${first.message}; ${second.message}`, {
    ...errorFacts(hopeful),
    cause: new AggregateError([first, second], 'primary and backup'),
  });
}
