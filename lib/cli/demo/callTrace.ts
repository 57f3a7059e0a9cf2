import type { AttemptRecord, GatewayEvent, Role } from '../../model/events.js';

/** One attempt as it can be drawn. Times are of the gateway's clock. */
export interface Lane {
  readonly attemptId: string;
  readonly source: string;
  readonly role: Role;
  readonly startMs: number;
  readonly incrementsMs: readonly number[];
  /** When its silence made the gateway ask another source. */
  readonly noticedMs?: number;
  readonly end?: LaneEnd;
}

export interface LaneEnd {
  readonly atMs: number;
  readonly type: 'answered' | 'won' | 'cancelled' | 'failed';
  readonly message?: string;
}

/** Follows one call: what its attempts are doing. */
export interface CallTrace {
  onEvent(this: void, event: GatewayEvent): void;
  onIncrement(this: void, attemptId: string, atMs: number): void;
  lanes(this: void): readonly Lane[];
  /** Forgets everything: the next call begins. */
  clear(this: void): void;
}

export function createCallTrace(): CallTrace {
  const lanes = new Map<string, Lane>();
  const change = (attemptId: string, changed: (lane: Lane) => Partial<Lane>): void => {
    const lane = lanes.get(attemptId);
    if (lane !== undefined) lanes.set(attemptId, { ...lane, ...changed(lane) });
  };
  const settle = (record: AttemptRecord): void => change(record.id, () => ({ end: endOf(record) }));

  return {
    onEvent(event) {
      switch (event.type) {
        case 'attempt-started':
          lanes.set(event.attemptId, { attemptId: event.attemptId, source: event.source, role: event.role, startMs: event.atMs, incrementsMs: [] });
          break;
        case 'silence-noticed':
          change(event.attemptId, () => ({ noticedMs: event.atMs }));
          break;
        case 'attempt-ended':
          settle(event.record);
          break;
        case 'round-decided':
          event.records.forEach(settle);
          break;
        default:
      }
    },
    onIncrement: (attemptId, atMs) => change(attemptId, ({ incrementsMs }) => ({ incrementsMs: [...incrementsMs, atMs] })),
    lanes: () => [...lanes.values()],
    clear: () => lanes.clear(),
  };
}

function endOf({ won, outcome, errorClass, errorMessage, endedMs }: AttemptRecord): LaneEnd {
  if (won) return { type: 'won', atMs: endedMs };
  if (outcome === 'ok') return { type: 'answered', atMs: endedMs };
  if (errorClass?.endsWith('_cancelled') === true) return { type: 'cancelled', atMs: endedMs };
  return { type: 'failed', atMs: endedMs, message: errorMessage ?? errorClass ?? 'failed' };
}
