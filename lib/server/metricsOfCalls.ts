import type { AttemptRecord, GatewayEvent } from '../model/events.js';
import { createCounter, createHistogram } from './metricsSeries.js';
import type { MetricFamily } from './prometheusText.js';

export interface CallMetrics {
  observe(this: void, operation: string, event: GatewayEvent): void;
  families(this: void): MetricFamily[];
}

const inSeconds = (ms: number): number => ms / 1000;

/** Counts what gateways tell. Labels are few: no ids, and no text that comes from a client. */
export function createCallMetrics(): CallMetrics {
  const calls = createCounter({ name: 'polygateway_calls_total', help: 'Calls that ended; code is the error of those that failed.' });
  const attempts = createCounter({ name: 'polygateway_attempts_total', help: 'Requests sent to sources, by how they ended.' });
  const hedges = createCounter({ name: 'polygateway_hedges_total', help: 'Backup requests sent, by what triggered them and whether they won.' });
  const refused = createCounter({ name: 'polygateway_hedges_refused_total', help: 'Backups that were wanted and did not start, by what refused them.' });
  const retries = createCounter({ name: 'polygateway_retries_total', help: 'Further rounds of calls, by the class of the failure before them.' });
  const silence = createCounter({ name: 'polygateway_silence_seconds_total', help: 'Seconds lost to silence within answers that came whole.' });
  const tokens = createCounter({ name: 'polygateway_tokens_total', help: 'Tokens as sources report them.' });
  const ttft = createHistogram({ name: 'polygateway_ttft_seconds', help: 'Time from a request to the first output of its answer.', bounds: [0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120] });
  const duration = createHistogram({ name: 'polygateway_attempt_duration_seconds', help: 'Time from a request to the end of its answer, however it ended.', bounds: [0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600] });
  const lost = new Map<string, number>();

  function ended(operation: string, { source, outcome, errorClass, ttftMs, latencyMs, stallMs, usage }: AttemptRecord): void {
    const ofSource = { operation, source };
    attempts.add({ ...ofSource, outcome, error_class: errorClass ?? '' }, 1);
    duration.add({ ...ofSource, outcome }, inSeconds(latencyMs));
    if (ttftMs !== null) ttft.add(ofSource, inSeconds(ttftMs));
    if (outcome === 'ok' && stallMs !== null) silence.add(ofSource, inSeconds(stallMs));
    for (const [direction, count] of [['input', usage?.promptTokens], ['output', usage?.completionTokens]] as const) {
      if (typeof count === 'number') tokens.add({ ...ofSource, direction }, count);
    }
  }

  return {
    observe(operation, event) {
      switch (event.type) {
        case 'call-ended':
          calls.add({ operation, outcome: event.outcome, code: event.outcome === 'failed' ? (event.code ?? '') : '' }, 1);
          break;
        case 'attempt-ended':
          ended(operation, event.record);
          break;
        case 'round-decided':
          for (const { role, hedgeTrigger, won } of event.records) if (role === 'backup') hedges.add({ operation, trigger: hedgeTrigger ?? '', won: String(won) }, 1);
          break;
        case 'hedge-refused':
          refused.add({ operation, gate: event.gate }, 1);
          break;
        case 'retry-scheduled':
          retries.add({ operation, failure_class: event.failureClass }, 1);
          break;
        case 'telemetry-trouble':
          lost.set(operation, event.lost);
          break;
        default:
      }
    },
    families: () => [
      ...[calls, attempts, hedges, refused, retries, silence, tokens, ttft, duration].map(({ family }) => family()),
      {
        name: 'polygateway_telemetry_rows_lost_total',
        help: 'Telemetry rows lost, as last told.',
        type: 'counter',
        samples: [...lost].map(([operation, value]) => ({ labels: { operation }, value })),
      },
    ],
  };
}
