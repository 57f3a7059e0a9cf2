import { defer, of } from 'rxjs';
import type { Observable } from 'rxjs';

/** When an attempt of the scope last succeeded (B3, G7). Noted as its permit is settled, on the backend's clock. */
export interface Progress {
  /** One value, then complete: the age of the last success; `Infinity` when there was none. Unsubscribing gives up asking. Fails with `GovernanceBackendError` when it cannot be read. */
  ageMs(): Observable<number>;
}

/** Progress that is kept in this process. */
export interface ProgressNotes extends Progress {
  noteSuccess(): void;
}

export function createProgress({ now }: { now: () => number }): ProgressNotes {
  let lastMs = -Infinity;
  return {
    noteSuccess: () => { lastMs = now(); },
    ageMs: () => defer(() => of(now() - lastMs)),
  };
}
