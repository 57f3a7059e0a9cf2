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
  return new Members(maxBackups);
}

/** A class, since one is held for each stream that may be hedged; short lists, since there are few attempts. */
class Members<S> implements Lineup<S> {
  private running: number[] = [];
  /** Backups that may still be refused, and those that await their turn. */
  private pending: number[] = [];
  /** Those that are silent, the latest last. */
  private silences: { readonly nth: number; readonly signal: S }[] = [];
  private granted = 0;
  private readonly maxBackups: number;

  constructor(maxBackups: number) {
    this.maxBackups = maxBackups;
  }

  enter(): number {
    const nth = this.running.length === 0 ? 0 : this.granted + 1;
    this.running.push(nth);
    if (nth > 0) this.pending.push(nth);
    return nth;
  }

  leave(nth: number): void {
    this.running = without(this.running, nth);
    this.pending = without(this.pending, nth);
    this.takeBack(nth);
  }

  isEmpty(): boolean {
    return this.running.length === 0;
  }

  grant(nth: number): void {
    this.pending = without(this.pending, nth);
    this.granted = Math.max(this.granted, nth);
  }

  awaitTurn(nth: number): void {
    if (!this.pending.includes(nth)) this.pending.push(nth);
  }

  spoke(nth: number): void {
    this.grant(nth);
    this.takeBack(nth);
  }

  silent(nth: number, signal: S): void {
    if (!this.running.includes(nth)) return;
    // Anew, so that the latest is the last.
    this.takeBack(nth);
    this.silences.push({ nth, signal });
  }

  mayStartFirst(): boolean {
    return this.granted === 0 && this.mayStart();
  }

  furtherWanted(): readonly S[] {
    const all = this.granted > 0 && this.silences.length === this.running.length;
    return all && this.mayStart() ? this.silences.slice(-1).map(({ signal }) => signal) : [];
  }

  private mayStart(): boolean {
    return this.pending.length === 0 && this.granted < this.maxBackups;
  }

  private takeBack(nth: number): void {
    if (this.silences.length > 0) this.silences = this.silences.filter((silence) => silence.nth !== nth);
  }
}

function without(numbers: number[], out: number): number[] {
  return numbers.includes(out) ? numbers.filter((number) => number !== out) : numbers;
}
