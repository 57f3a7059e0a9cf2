import type { StoredAttempt } from '../../telemetry/attemptReader.js';
import type { CallTimes } from './callTimes.js';
import type { SlowAttempt, SlowCall } from './reportFigures.js';

const most = 20;

export interface SlowestCalls {
  add(call: readonly StoredAttempt[], times: CallTimes): void;
  /** Slowest first; of equally slow ones by their ids. */
  calls(): readonly SlowCall[];
}

/** Keeps the slowest calls, answered or not. */
export function createSlowestCalls(): SlowestCalls {
  const kept: SlowCall[] = [];
  return {
    add(call, times) {
      const last = kept[most - 1];
      if (last !== undefined && times.callMs < last.callMs) return;
      kept.push(slowCall(call, times));
      kept.sort((a, b) => b.callMs - a.callMs || (a.callId < b.callId ? -1 : 1));
      kept.length = Math.min(kept.length, most);
    },
    calls: () => [...kept],
  };
}

function slowCall(call: readonly StoredAttempt[], { enteredAtMs, callMs, winner }: CallTimes): SlowCall {
  return {
    callId: call[0]?.call_id ?? '',
    startedAt: new Date(enteredAtMs).toISOString(),
    callMs,
    answered: winner !== undefined,
    attempts: call.map((attempt) => slowAttempt(attempt, enteredAtMs)),
  };
}

function slowAttempt(attempt: StoredAttempt, enteredAtMs: number): SlowAttempt {
  const startMs = attempt.startedAtMs - enteredAtMs;
  return {
    source: attempt.source,
    role: attempt.role,
    trigger: attempt.hedge_trigger,
    round: attempt.round ?? 0,
    startMs,
    endMs: startMs + (attempt.latency_ms ?? 0),
    ttftMs: attempt.ttft_ms,
    won: attempt.won,
    errorClass: attempt.error_class,
    errorMessage: attempt.error_message,
    silences: attempt.record_gaps,
  };
}
