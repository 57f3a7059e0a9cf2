import type { AttemptRecord, GatewayEvent, HedgeTrigger, RefusingGate } from '../model/events.js';

/** A silence at which a backup was asked for, and what became of it; times in ms of the scheduler. */
export interface TestHedge {
  readonly callId: string;
  readonly atMs: number;
  readonly trigger: HedgeTrigger;
  /** The source that was silent. */
  readonly from: string;
  /** Where the backup was sent; `null` where none was. */
  readonly to: string | null;
  /** `lost`: another answer was taken; `failed`: the backup itself failed; `refused`: none was sent, `gate` says by whom. */
  readonly outcome: 'running' | 'won' | 'lost' | 'failed' | 'refused';
  /** What refused it; `null` where nothing did. */
  readonly gate: RefusingGate | null;
}

type Started = Extract<GatewayEvent, { type: 'attempt-started' }>;
type Refused = Extract<GatewayEvent, { type: 'hedge-refused' }>;

/** The hedges that events tell of, in the order in which they were asked for. */
export function hedgesOf(events: readonly GatewayEvent[]): readonly TestHedge[] {
  const records = new Map(events.flatMap((event) => (event.type === 'round-decided' ? event.records.map((record) => [record.id, record] as const) : [])));
  return events.flatMap((event, at) => {
    if (event.type !== 'silence-noticed') return [];
    const { callId, atMs, trigger, source: from } = event;
    const answer = events.slice(at + 1).find((later) => isAnswer(later, callId));
    return [{ callId, atMs, trigger, from, ...becameOf(answer, records) }];
  });
}

function isAnswer(event: GatewayEvent, callId: string): event is Started | Refused {
  if (event.type === 'hedge-refused') return event.callId === callId;
  return event.type === 'attempt-started' && event.role === 'backup' && event.callId === callId;
}

function becameOf(answer: Started | Refused | undefined, records: ReadonlyMap<string, AttemptRecord>): Pick<TestHedge, 'to' | 'outcome' | 'gate'> {
  if (answer === undefined) return { to: null, outcome: 'running', gate: null };
  if (answer.type === 'hedge-refused') return { to: null, outcome: 'refused', gate: answer.gate };
  return { to: answer.source, outcome: outcomeOf(records.get(answer.attemptId)), gate: null };
}

function outcomeOf(record: AttemptRecord | undefined): TestHedge['outcome'] {
  if (record === undefined) return 'running';
  if (record.won) return 'won';
  return record.outcome === 'ok' || record.errorClass === 'hedge_cancelled' || record.errorClass === 'caller_cancelled' ? 'lost' : 'failed';
}
