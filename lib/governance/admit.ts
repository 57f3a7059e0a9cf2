import { EMPTY, catchError, concatMap, defer, from, map, of, take, throwError, throwIfEmpty } from 'rxjs';
import type { Observable } from 'rxjs';
import { GovernanceBackendError } from '../model/errors.js';
import type { RefusingGate } from '../model/events.js';
import { AdmissionRefused, allGates, isLocal, localGate, settledBy, withoutStack } from './gate.js';
import type { Gate, Outcome, Permit, Ticket } from './gate.js';
import type { Governance } from './governance.js';
import type { WaitingLine } from './waitingLine.js';

export interface Admitted<S> {
  readonly source: S;
  readonly permit: Permit;
}

/** No source of the list may be asked now. */
export class NoneAdmitted extends Error {
  override readonly name = 'NoneAdmitted';
  readonly code = 'none_admitted';
  /** What refuses the source that comes free first. */
  readonly gate: RefusingGate;
  /** When asking again is likely to help at the earliest; absent where no gate could say. */
  readonly retryAfterMs?: number;
  /** Asking sooner cannot help, wherever something is given back. */
  readonly notBeforeMs: number;
  /** Every gate knew its time: nothing can come free sooner or later. */
  readonly certain: boolean;
  /** The first to come free asked for its pause itself (R3). */
  readonly asked: boolean;
  /** No call should wait so long (R3). */
  readonly hopeless: boolean;

  constructor(refusals: readonly AdmissionRefused[]) {
    super(refusals.map(({ message }) => message).join('; ') || 'there is no source to ask');
    const hopeful = refusals.filter(({ hopeless }) => !hopeless);
    const open = hopeful.length > 0 ? hopeful : refusals;
    const known = open.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
    const first = open.reduce<AdmissionRefused | undefined>((a, b) => (a === undefined || b.notBeforeMs < a.notBeforeMs ? b : a), undefined);
    if (known.length > 0) this.retryAfterMs = Math.min(...known);
    this.gate = first?.gate ?? 'none-left';
    this.notBeforeMs = first?.notBeforeMs ?? 0;
    this.certain = open.length > 0 && open.every(({ retryAfterMs, notBeforeMs }) => retryAfterMs === notBeforeMs);
    this.asked = first?.asked ?? false;
    this.hopeless = refusals.length > 0 && hopeful.length === 0;
  }
}

export interface AdmissionOptions {
  readonly gates: readonly Gate[];
  readonly line: WaitingLine;
  readonly onSettled?: (outcome: Outcome) => void;
}

/** The gates of a scope as one, whose permits wake the waiting line when they are given back. */
export function createAdmission({ gates, line, onSettled = () => undefined }: AdmissionOptions): Gate {
  const all = allGates(gates);
  const counted = (permit: Permit): Permit => {
    line.granted();
    return settledBy(permit, (outcome) => {
      permit.settle(outcome);
      onSettled(outcome);
      line.wake();
    });
  };
  if (isLocal(all)) return localGate({ refusal: (ticket) => all.refusal(ticket), take: (ticket) => counted(all.take(ticket)) });
  return { refusal: (ticket) => all.refusal(ticket), enter: (ticket) => all.enter(ticket).pipe(map(counted)) };
}

export interface AdmitOptions<S> {
  readonly sources: readonly S[];
  readonly gate: Gate;
  readonly ticketFor: (source: S) => Ticket;
  /** Sources that are not even asked, with the reason. */
  readonly refused?: readonly AdmissionRefused[];
}

/**
 * Enters the gate for the first source that is let in, in the order given; else fails with `NoneAdmitted`, or where a backend
 * did not decide for one of them, with its error.
 */
export function admitFirst<S extends { readonly id: string }>(options: AdmitOptions<S>): Observable<Admitted<S>> {
  const { sources, gate, ticketFor, refused = [] } = options;
  if (isLocal(gate)) return defer(() => of(takeFirst(options, gate)));
  return defer(() => {
    const refusals = [...refused];
    let undecided: unknown;
    return from(sources).pipe(
      concatMap((source) =>
        gate.enter(ticketFor(source)).pipe(
          map((permit) => ({ source, permit })),
          catchError((error: unknown) => {
            if (error instanceof AdmissionRefused) refusals.push(error);
            else if (error instanceof GovernanceBackendError) undecided ??= error;
            else return throwError(() => error);
            return EMPTY;
          }),
        ),
      ),
      take(1),
      throwIfEmpty(() => undecided ?? withoutStack(() => new NoneAdmitted(refusals))),
    );
  });
}

/** The same in one turn, without a stream for each source. */
function takeFirst<S extends { readonly id: string }>({ sources, ticketFor, refused = [] }: AdmitOptions<S>, gate: Required<Gate>): Admitted<S> {
  const refusals = [...refused];
  for (const source of sources) {
    const ticket = ticketFor(source);
    const refusal = gate.refusal(ticket);
    if (refusal === undefined) return { source, permit: gate.take(ticket) };
    refusals.push(refusal);
  }
  throw withoutStack(() => new NoneAdmitted(refusals));
}

/** One decision, however many sources it asked, within the limit of the backend (G6). */
export function decided<T>(governance: Pick<Governance, 'decide'>, decision$: Observable<T>): Observable<T> {
  return governance.decide?.(decision$) ?? decision$;
}
