import type { WatchEvent, WatchedRecord } from '../../telemetry/watch/watchEvent.js';
import { inSeconds } from '../inSeconds.js';

/** An event in words, if it is one that people want to hear of: what goes as usual is not told. */
export function eventWords(event: WatchEvent): string | undefined {
  switch (event.type) {
    case 'silence-noticed':
      return `${event.source} silent for ${inSeconds(event.silentMs, 1)} ${event.trigger === 'stall' ? 'in mid-stream' : 'before its first increment'}`;
    case 'hedge-refused':
      return `no backup for ${event.source}: ${event.reason}`;
    case 'attempt-started':
      return event.role === 'backup' ? `backup started at ${event.source}` : undefined;
    case 'attempt-ended':
      return failureWords(event.record);
    case 'round-decided':
      return raceWords(event.records);
    case 'retry-scheduled':
      return `next try in ${inSeconds(event.delayMs, 1)}${event.source === null ? '' : ` after ${event.source}`} (${event.failureClass})`;
    case 'source-parked':
      return `${event.source} parked for ${inSeconds(event.forMs, 1)}`;
    case 'breaker-changed':
      return `breaker of ${event.source} ${event.from} -> ${event.to}${event.coolDownMs === null ? '' : `, cools down for ${inSeconds(event.coolDownMs, 1)}`}`;
    case 'pace-changed':
      return event.concurrency === null ? `${event.source} no longer paced` : `${event.source} paced to ${event.concurrency} at once`;
    case 'backend-changed':
      return event.state === 'back' ? 'the shared backend decides again' : `the shared backend is away: ${event.message}`;
    case 'lease-lost':
      return `${event.source}: the place of a running attempt was given to another`;
    case 'call-waiting':
      return `a call waits: ${event.reason}`;
    case 'call-ended':
      return event.outcome === 'failed' ? `a call failed after ${inSeconds(event.callMs, 1)}: ${event.code ?? 'unknown'}` : undefined;
    case 'telemetry-trouble':
      return `telemetry: ${event.message}`;
    case 'call-started':
    case 'attempt-unsent':
      return undefined;
    default:
      // Of a newer gateway.
      event satisfies never;
      return undefined;
  }
}

function failureWords({ source, errorClass, httpStatus, latencyMs }: WatchedRecord): string | undefined {
  if (errorClass === null || errorClass === 'hedge_cancelled' || errorClass === 'caller_cancelled') return undefined;
  return `${source} failed after ${inSeconds(latencyMs, 1)}: ${errorClass}${httpStatus === null ? '' : ` (HTTP ${httpStatus})`}`;
}

/** Of a round that was hedged: who won it. */
function raceWords(records: readonly WatchedRecord[]): string | undefined {
  if (!records.some(({ role }) => role === 'backup')) return undefined;
  const winner = records.find(({ won }) => won);
  return winner === undefined ? 'neither primary nor backup answered' : `the ${winner.role} at ${winner.source} won after ${inSeconds(winner.latencyMs, 1)}`;
}
