import { messageOf } from '../model/errors.js';
import type { Report } from '../model/events.js';
import { maskSecrets } from '../model/mask.js';

export interface TroubleTeller {
  failed(error: unknown): void;
  lost(count: number, why: string): void;
  recovered(): void;
  closed(): void;
  readonly lostRows: number;
}

// One outage is one story; a sink that fails at every second row must not flood the log.
const quietMs = 30_000;

/** Tells of trouble with telemetry: its start, its first loss and its end, not every row of it. */
export function createTroubleTeller({ report, now }: { readonly report: Report; readonly now: () => number }): TroubleTeller {
  let lostRows = 0;
  let lostTold = 0;
  let isOpen = false;
  let failedAtMs = -Infinity;
  let lostAtMs = -Infinity;

  function tell(message: string): void {
    lostTold = lostRows;
    report({ type: 'telemetry-trouble', message: maskSecrets(message), lost: lostRows });
  }

  return {
    failed(error) {
      if (isOpen || now() - failedAtMs < quietMs) return;
      isOpen = true;
      failedAtMs = now();
      tell(`telemetry cannot be written; rows are held and tried again, calls go on: ${messageOf(error)}`);
    },
    lost(count, why) {
      lostRows += count;
      if (now() - lostAtMs < quietMs) return;
      lostAtMs = now();
      tell(`telemetry rows are lost: ${why}; lost so far: ${lostRows}`);
    },
    recovered() {
      if (!isOpen) return;
      isOpen = false;
      tell(`telemetry is written again; rows lost so far: ${lostRows}`);
    },
    closed() {
      if (lostRows > lostTold) tell(`telemetry is closed; rows lost: ${lostRows}`);
    },
    get lostRows() {
      return lostRows;
    },
  };
}
