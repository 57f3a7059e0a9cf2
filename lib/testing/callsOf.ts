import type { GatewayEvent, Operation } from '../model/events.js';

type Ended = Extract<GatewayEvent, { type: 'call-ended' }>;

/** A call as a test looks at it; times in ms of the scheduler. `endedMs` is `null` while it is `running`. */
export interface TestCall {
  readonly callId: string;
  readonly operation: Operation;
  readonly model: string | null;
  readonly streamed: boolean;
  readonly startedMs: number;
  readonly endedMs: number | null;
  readonly outcome: 'running' | Ended['outcome'];
  /** The `code` of the error that it failed with. */
  readonly code: string | null;
  /** The winner's. */
  readonly source: string | null;
  readonly attempts: number;
  readonly hedges: number;
  readonly waitedMs: number;
}

const running = { endedMs: null, outcome: 'running', code: null, source: null, attempts: 0, hedges: 0, waitedMs: 0 } as const;

/** The calls that events tell of, in the order in which they were started. */
export function callsOf(events: readonly GatewayEvent[]): readonly TestCall[] {
  const ends = new Map(events.flatMap((event) => (event.type === 'call-ended' ? [[event.callId, event] as const] : [])));
  return events.flatMap((event) => {
    if (event.type !== 'call-started') return [];
    const { callId, operation, model, streamed, atMs: startedMs } = event;
    return [{ callId, operation, model, streamed, startedMs, ...endOf(ends.get(callId)) }];
  });
}

function endOf(ended: Ended | undefined): Pick<TestCall, keyof typeof running> {
  if (ended === undefined) return running;
  const { atMs: endedMs, outcome, code, source, attempts, hedges, waitedMs } = ended;
  return { endedMs, outcome, code, source, attempts, hedges, waitedMs };
}
