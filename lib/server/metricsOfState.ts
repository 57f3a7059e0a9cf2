import type { GatewayStats } from '../gateway/calls.js';
import type { BreakerPhase } from '../model/events.js';
import type { MetricFamily, Sample } from './prometheusText.js';

const phases: Readonly<Record<BreakerPhase, number>> = { closed: 0, 'half-open': 1, open: 2 };

/** What is going on right now, for each operation. */
export function stateFamilies(stats: ReadonlyMap<string, GatewayStats>): MetricFamily[] {
  const each = (read: (stats: GatewayStats) => number): Sample[] => [...stats].map(([operation, now]) => ({ labels: { operation }, value: read(now) }));
  const bySource = (read: (stats: GatewayStats) => Readonly<Record<string, number>>): Sample[] =>
    [...stats].flatMap(([operation, now]) => Object.entries(read(now)).map(([source, value]) => ({ labels: { operation, source }, value })));
  return [
    gauge('polygateway_calls_in_flight', 'Calls in flight.', each(({ calls }) => calls)),
    gauge('polygateway_attempts_in_flight', 'Requests to sources in flight.', each(({ attempts }) => attempts)),
    gauge('polygateway_calls_waiting', 'Calls that wait for a source that may be asked.', each(({ waiters }) => waiters)),
    gauge('polygateway_permits_in_use', 'Requests at once that a source is held to have.', bySource(({ permits }) => permits)),
    gauge('polygateway_breaker_state', 'Breaker of a source: 0 closed, 1 half-open, 2 open.', bySource(({ breakers }) => mapped(breakers, (phase) => phases[phase]))),
    gauge('polygateway_source_parked_seconds', 'Seconds for which a source that asked for a pause is not asked yet.', bySource(({ parked }) => mapped(parked, (ms) => ms / 1000))),
  ];
}

function gauge(name: string, help: string, samples: readonly Sample[]): MetricFamily {
  return { name, help, type: 'gauge', samples };
}

function mapped<V>(record: Readonly<Record<string, V>>, change: (value: V) => number): Record<string, number> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
