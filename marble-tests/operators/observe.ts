import { VirtualAction, VirtualTimeScheduler } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';

/** What came out of an Observable, and when: plain data, so that two of them can be compared. */
export type Seen = { readonly atMs: number } & ({ readonly next: unknown } | { readonly error: unknown } | { readonly complete: true });

/** Subscribes on a virtual clock of its own and runs it for `forMs`; a property test does this thousands of times. */
export function observe(make: (scheduler: SchedulerLike) => Observable<unknown>, forMs = 100_000): Seen[] {
  const scheduler = new VirtualTimeScheduler(VirtualAction, forMs);
  const seen: Seen[] = [];
  make(scheduler).subscribe({
    next: (next) => seen.push({ atMs: scheduler.now(), next }),
    error: (error: unknown) => seen.push({ atMs: scheduler.now(), error }),
    complete: () => seen.push({ atMs: scheduler.now(), complete: true }),
  });
  scheduler.flush();
  return seen;
}
