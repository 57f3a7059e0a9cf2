import { EMPTY, filter, groupBy, mergeMap, switchMap, tap, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import type { GatewayStats } from '../gateway/calls.js';
import type { GatewayEvent } from '../model/events.js';

export interface ReadinessOptions {
  readonly stats: () => GatewayStats;
  readonly events$: Observable<GatewayEvent>;
}

export interface Readiness {
  /** Whether a source may be asked. */
  isReady(this: void): boolean;
  close(this: void): void;
}

/**
 * Follows the breakers. One whose cool-down is over stays open until somebody asks, and nobody would ask a server that says
 * it is not ready: so from then on its source counts again.
 */
export function followReadiness({ stats, events$ }: ReadinessOptions): Readiness {
  const cooling = new Set<string>();
  const coolDowns$ = events$.pipe(
    filter((event) => event.type === 'breaker-changed'),
    groupBy(({ source }) => source),
    mergeMap((changes$) =>
      changes$.pipe(
        switchMap(({ source, to, coolDownMs }) => {
          cooling.delete(source);
          if (to !== 'open' || coolDownMs === null || coolDownMs === 0) return EMPTY;
          cooling.add(source);
          return timer(coolDownMs).pipe(tap({ next: () => cooling.delete(source) }));
        }),
      ),
    ),
  );
  const subscription = coolDowns$.subscribe({ error: () => cooling.clear() });
  return {
    isReady() {
      const phases = Object.entries(stats().breakers);
      return phases.length === 0 || phases.some(([source, phase]) => phase !== 'open' || !cooling.has(source));
    },
    close: () => subscription.unsubscribe(),
  };
}
