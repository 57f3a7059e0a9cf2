import type { Observable } from 'rxjs';
import type { BreakerPhase, Report } from '../model/events.js';
import type { Upstream } from '../model/source.js';
import type { BreakerPolicy } from './breaker/breaker.js';
import type { Gate } from './gate.js';
import type { Parking } from './parking.js';
import type { Progress } from './progress.js';
import type { WaitingLine } from './waitingLine.js';

/** The admission state of one scope, wherever it is kept. */
export interface Governance {
  readonly admission: Gate;
  readonly parking: Parking;
  readonly progress: Progress;
  readonly line: WaitingLine;
  /** Holds one decision, over however many sources it asks, to the limit of a backend that may be slow. */
  decide?<T>(decision$: Observable<T>): Observable<T>;
  /** Permits that this process uses, per source. */
  permits(): Record<string, number>;
  /** Breaker per source; of a shared backend, as it was last seen. */
  breakers(): Record<string, BreakerPhase>;
  /** Requests at once that a source is paced to; absent: not paced. */
  paced(): Record<string, number>;
  /** Gives back what is still held and lets go of connections; called once, after the last call has ended. */
  close?(): Promise<void>;
}

/** What the admission state of a scope is made from. */
export interface GovernanceScope {
  readonly sources: readonly Pick<Upstream, 'id' | 'limits' | 'maxConcurrency' | 'rpm' | 'tpm'>[];
  readonly breaker: BreakerPolicy;
  /** Backups per call at most; absent: no cap (H10). */
  readonly hedgeMaxRatio?: number | undefined;
  readonly now: () => number;
  /** In [0, 1); `() => 1` means no jitter. */
  readonly random: () => number;
  readonly report: Report;
}
