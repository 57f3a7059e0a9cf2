import { describe, expect, test } from '@jest/globals';
import { createCallTrace } from '../../lib/cli/demo/callTrace.js';
import type { AttemptRecord, GatewayEvent } from '../../lib/model/events.js';

const started = (atMs: number, attemptId: string, role: 'primary' | 'backup'): GatewayEvent => ({
  type: 'attempt-started', atMs, attemptId, callId: 'c', round: 1, role, source: `${role}/1`, trigger: null, provider: role, model: 'm', waitedMs: 0,
});

function record(id: string, fields: Partial<AttemptRecord>): AttemptRecord {
  return { id, outcome: 'ok', errorClass: null, errorMessage: null, won: false, endedMs: 0, ...fields } as AttemptRecord;
}

const ended = (atMs: number, of: AttemptRecord): GatewayEvent => ({ type: 'attempt-ended', atMs, callId: 'c', attemptId: of.id, source: 'primary/1', record: of });

describe('createCallTrace', () => {
  test('follows a hedged call from its events and increments', () => {
    const trace = createCallTrace();
    trace.onEvent(started(10, 'a', 'primary'));
    trace.onIncrement('a', 20);
    trace.onIncrement('unknown', 21);
    trace.onEvent({ type: 'silence-noticed', atMs: 1020, callId: 'c', attemptId: 'a', source: 'primary/1', trigger: 'stall', silentMs: 1000 });
    trace.onEvent(started(1021, 'b', 'backup'));
    trace.onIncrement('b', 1050);
    trace.onEvent(ended(1100, record('b', { endedMs: 1100 })));
    expect(trace.lanes().map(({ end }) => end?.type)).toEqual([undefined, 'answered']);

    const lost = record('a', { outcome: 'error', errorClass: 'hedge_cancelled', endedMs: 1101 });
    trace.onEvent(ended(1101, lost));
    trace.onEvent({ type: 'round-decided', atMs: 1101, callId: 'c', round: 1, records: [record('b', { won: true, endedMs: 1100 }), lost] });
    expect(trace.lanes()).toEqual([
      { attemptId: 'a', source: 'primary/1', role: 'primary', startMs: 10, incrementsMs: [20], noticedMs: 1020, end: { type: 'cancelled', atMs: 1101 } },
      { attemptId: 'b', source: 'backup/1', role: 'backup', startMs: 1021, incrementsMs: [1050], end: { type: 'won', atMs: 1100 } },
    ]);

    trace.clear();
    expect(trace.lanes()).toEqual([]);
  });

  test('a failure keeps its message', () => {
    const trace = createCallTrace();
    trace.onEvent(started(0, 'a', 'primary'));
    trace.onEvent(ended(5, record('a', { outcome: 'error', errorClass: 'transient', errorMessage: 'it broke', endedMs: 5 })));
    expect(trace.lanes()[0]?.end).toEqual({ type: 'failed', atMs: 5, message: 'it broke' });
  });
});
