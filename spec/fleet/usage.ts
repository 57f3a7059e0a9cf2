/** A request, as its source saw it. */
export interface Visit {
  readonly startMs: number;
  /** Far off while it runs. */
  readonly endMs: number;
  readonly tokens: number;
  /** The process that asked. */
  readonly by: string;
}

type Weigh = (visit: Visit) => number;

export interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The most requests in flight at one instant. */
export function mostAtOnce(visits: readonly Visit[]): number {
  const steps = visits.flatMap(({ startMs, endMs }) => [{ atMs: startMs, by: 1 }, { atMs: endMs, by: -1 }]);
  // One that ends in the instant in which another comes is not beside it.
  steps.sort((a, b) => a.atMs - b.atMs || a.by - b.by);
  let inFlight = 0;
  return steps.reduce((most, { by }) => Math.max(most, (inFlight += by)), 0);
}

/** The most that came in any window of this length. */
export function mostWithin(visits: readonly Visit[], windowMs: number, weigh: Weigh): number {
  const sorted = byStart(visits);
  let [first, sum, most] = [0, 0, 0];
  for (const visit of sorted) {
    sum += weigh(visit);
    for (let oldest = sorted[first]; oldest !== undefined && oldest.startMs <= visit.startMs - windowMs; oldest = sorted[first]) {
      sum -= weigh(oldest);
      first += 1;
    }
    most = Math.max(most, sum);
  }
  return most;
}

/** Mean number in flight. */
export function meanInFlight(visits: readonly Visit[], { fromMs, toMs }: Period): number {
  const busyMs = visits.map(({ startMs, endMs }) => Math.max(0, Math.min(endMs, toMs) - Math.max(startMs, fromMs)));
  return busyMs.reduce((sum, ms) => sum + ms, 0) / (toMs - fromMs);
}

/** How long it takes on average until as much as the limit has come again; in full use, that is the window. */
export function meanTurnoverMs(visits: readonly Visit[], limit: number, weigh: Weigh): number {
  const sorted = byStart(visits);
  const turnoversMs: number[] = [];
  let [at, ahead] = [0, 0];
  sorted.forEach((visit, i) => {
    for (; ahead < limit && at + 1 < sorted.length; at += 1) ahead += weigh(sorted[at + 1] ?? visit);
    const last = sorted[at];
    if (ahead < limit || last === undefined) return;
    turnoversMs.push(last.startMs - visit.startMs);
    ahead -= weigh(sorted[i + 1] ?? visit);
  });
  return turnoversMs.reduce((sum, ms) => sum + ms, 0) / turnoversMs.length;
}

/** How many requests each process made. */
export function perProcess(visits: readonly Visit[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { by } of visits) counts[by] = (counts[by] ?? 0) + 1;
  return counts;
}

function byStart(visits: readonly Visit[]): Visit[] {
  return [...visits].sort((a, b) => a.startMs - b.startMs);
}
