import { defer } from 'rxjs';
import type { Observable } from 'rxjs';
import type { AttemptRecord } from '../model/events.js';
import type { Upstream } from '../model/source.js';
import type { StreamStart } from '../model/streamItem.js';
import type { Admitted } from '../governance/admit.js';
import { concludeWith } from '../operators/concludeWith.js';
import { attempt, openAttempt } from './attempt.js';
import { isCompleted, isFigures } from './attemptSpec.js';
import type { Completed, Passed, Progress } from './attemptSpec.js';
import type { CallState } from './callState.js';
import { hedged } from './hedged.js';
import type { Ports } from './ports.js';

/** One try of a call: one attempt, or more while it is hedged; emits the winner's completion, and before it what is passed on. */
export function round<A>(call: CallState<A>, admitted: Admitted<Upstream>, ports: Ports): Observable<Passed<A>> {
  return defer(() => {
    call.rounds += 1;
    const records = openRecords(call, ports);
    const primary = openAttempt(call, { admitted, role: 'primary', round: call.rounds, trigger: null, onBooked: records.add }, ports);

    return attempt(call, primary, ports).pipe(
      hedged({ call, primary, ports }),
      concludeWith<Progress<A>, Completed<A>, Completed<A>, StreamStart>({
        keeps: isCompleted,
        // Only now are the losers gone, and with them what of theirs was never sent.
        passes: (progress) => (isFigures(progress) ? undefined : startOf(call, admitted)),
        conclude(ending, completed) {
          call.winner = completed;
          records.decide(call.rounds);
          return completed;
        },
      }),
    );
  });
}

function startOf({ id, task, committed, attempts, hedges }: CallState<unknown>, primary: Admitted<Upstream>): StreamStart {
  const { source } = committed?.admitted ?? primary;
  return { type: 'start', callId: id, source: source.id, model: task.model ?? source.model, attempts, hedges };
}

interface Records {
  add(this: void, record: AttemptRecord): void;
  /** Hands the rows over; only now is it known who won (E1). */
  decide(round: number): void;
}

function openRecords(call: CallState<unknown>, { report }: Ports): Records {
  const booked: AttemptRecord[] = [];
  return {
    add: (record) => { booked.push(record); },
    decide(roundNumber) {
      const winner = call.winner ?? (call.endedBy === 'deadline' ? call.held : undefined);
      const records = booked.map((record) => (record.id === winner?.attemptId ? { ...record, won: true } : record));
      report({ type: 'round-decided', callId: call.id, round: roundNumber, records });
    },
  };
}
