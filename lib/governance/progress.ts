import { defer, of } from 'rxjs';
import type { Observable } from 'rxjs';

/** When a call of the scope last succeeded (B3, G7). Kept by the backend, on the backend's clock. */
export interface Progress {
  noteSuccess(): void;
  /** Age of the last success; `Infinity` when there was none. Fails with `GovernanceBackendError` when it cannot be read. */
  ageMs(): Observable<number>;
}

export function createProgress({ now }: { now: () => number }): Progress {
  let lastMs = -Infinity;
  return {
    noteSuccess: () => { lastMs = now(); },
    ageMs: () => defer(() => of(now() - lastMs)),
  };
}
