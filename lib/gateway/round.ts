import { defer, filter, finalize, takeLast, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { AttemptRecord } from '../model/events.js';
import type { Upstream } from '../model/source.js';
import type { Admitted } from '../governance/admit.js';
import { finalizeWith } from '../operators/finalizeWith.js';
import { attempt, openAttempt } from './attempt.js';
import { isCompleted } from './attemptSpec.js';
import type { AttemptSpec, Completed } from './attemptSpec.js';
import type { CallState } from './callState.js';
import { hedged } from './hedged.js';
import type { Ports } from './ports.js';

/** One try of a call: one attempt, or more while it is hedged; emits the winner's completion. */
export function round<A>(call: CallState<A>, admitted: Admitted<Upstream>, ports: Ports): Observable<Completed<A>> {
  return defer(() => {
    call.rounds += 1;
    const records = openRecords(call, ports);
    const live = new Set<AttemptSpec<A>>();
    const run = (spec: AttemptSpec<A>): ReturnType<typeof attempt<A>> =>
      defer(() => {
        live.add(spec);
        return attempt(call, spec, ports).pipe(finalize(() => live.delete(spec)));
      });
    const primary = openAttempt(call, { admitted, role: 'primary', round: call.rounds, trigger: null, onBooked: records.add });

    return run(primary).pipe(
      hedged({ call, primary, live, run, ports }),
      filter((progress) => isCompleted(progress)),
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

function openRecords(call: CallState<unknown>, { report }: Ports): Records {
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
