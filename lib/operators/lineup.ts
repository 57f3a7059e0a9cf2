/**
 * Which attempts of a hedge run, and whether a backup may join them. Attempts are numbers: the primary is 0, backups
 * count from 1 in order of start, and a refused one leaves its number to the next.
 */
export interface Lineup<S> {
  enter(): number;
  leave(nth: number): void;
  isEmpty(): boolean;
  /** It was not refused. */
  grant(nth: number): void;
  /** It has completed, but it is not yet its turn: nobody may join until it is known whether it wins. */
  awaitTurn(nth: number): void;
  spoke(nth: number): void;
  silent(nth: number, signal: S): void;
  /** Whether the first backup may start, if it is wanted. */
  mayStartFirst(): boolean;
  /** The latest signal of silence where a further backup is to start; else nothing. */
  furtherWanted(): readonly S[];
}

export function openLineup<S>(maxBackups: number): Lineup<S> {
  const running = new Set<number>();
  /** Backups that may still be refused, and those that await their turn. */
  const pending = new Set<number>();
  /** The signals of those that are silent, the latest last. */
  const silences = new Map<number, S>();
  let granted = 0;

  const mayStart = (): boolean => pending.size === 0 && granted < maxBackups;
  const grant = (nth: number): void => {
    pending.delete(nth);
    granted = Math.max(granted, nth);
  };

  return {
    enter() {
      const nth = running.size === 0 ? 0 : granted + 1;
      running.add(nth);
      if (nth > 0) pending.add(nth);
      return nth;
    },
    leave: (nth) => [running, pending, silences].forEach((those) => those.delete(nth)),
    isEmpty: () => running.size === 0,
    grant,
    awaitTurn: (nth) => { pending.add(nth); },
    spoke(nth) {
      grant(nth);
      silences.delete(nth);
    },
    silent(nth, signal) {
      if (!running.has(nth)) return;
      // Anew, so that the latest is the last.
      silences.delete(nth);
      silences.set(nth, signal);
    },
    mayStartFirst: () => granted === 0 && mayStart(),
    furtherWanted: () => (granted > 0 && silences.size === running.size && mayStart() ? [...silences.values()].slice(-1) : []),
  };
}
