import { Observable, Subject, Subscription, defer } from 'rxjs';
import type { MonoTypeOperatorFunction, Observer, Subscriber } from 'rxjs';
import { Arena } from './arena.js';
import type { Branch } from './hedge.js';

export interface HedgeUntilFirstOptions<T, S> {
  /** Makes the signal from the primary; its first emission asks for the backup. Errors of the primary do not reach it. */
  readonly when: (primary$: Observable<T>) => Observable<S>;
  /** Starts the backup. Completing without a word: refused, and the primary goes on alone. */
  readonly backup: (signal: S) => Observable<T>;
  /** The values that are passed on, the first of which decides; the others are for `when` alone. */
  readonly speaks: (value: T) => boolean;
  /** The one error for both, where both have failed before they spoke. */
  readonly combine: (failures: { primary: unknown; backup: unknown }) => unknown;
}

/**
 * Runs a backup beside a primary that is late; the first to **speak** is the result from then on.
 *
 *     primary:    ------------a--b-|
 *     when:       ------s
 *     backup:           ---x-y--z-|
 *     result:     ---------x-y--z-|
 *     subscribed: ^--------!               to the primary
 *
 * One branch fails before either has spoken: its failure is held back while the other runs. Both: `combine`. Once one has
 * spoken the other is unsubscribed, before the value is passed on, and whatever becomes of the one that spoke is the result,
 * its failure too. A branch that ends without a word and without a failure leaves the result to the other. There is one
 * backup at most, and none after the first word. What `when`'s signal fails with, or another callback throws, fails the
 * result at once; `backup` throwing is a failed backup. Unsubscribing stops both.
 */
export function hedgeUntilFirst<T, S>(options: HedgeUntilFirstOptions<T, S>): MonoTypeOperatorFunction<T> {
  return (primary$) =>
    new Observable((out) => {
      const race = new Race(options, out);
      race.start(primary$);
      return race.all;
    });
}

class Race<T, S> extends Arena<T> {
  private spoken: Branch | undefined;
  private running = 0;
  private failures: Map<Branch, unknown> | undefined;
  private readonly attempts: Partial<Record<Branch, Subscription>> = {};
  private readonly signal = new Subscription();
  private readonly value$ = new Subject<T>();
  private readonly options: HedgeUntilFirstOptions<T, S>;

  constructor(options: HedgeUntilFirstOptions<T, S>, out: Subscriber<T>) {
    super(out);
    this.options = options;
    this.all.add(this.signal);
  }

  start(primary$: Observable<T>): void {
    const { when, backup } = this.options;
    this.guarded(() => {
      const asked$ = when(this.value$);
      this.enter('primary', primary$);
      if (this.spoken !== undefined) return;
      this.signal.add(asked$.subscribe({ next: (reason) => this.asked(() => backup(reason)), error: (error: unknown) => this.fail(error) }));
    });
  }

  private asked(backup: () => Observable<T>): void {
    if (this.signal.closed) return;
    this.signal.unsubscribe();
    this.enter('backup', defer(backup));
  }

  private enter(branch: Branch, attempt$: Observable<T>): void {
    this.within(() => {
      const attempt = new Subscription();
      this.attempts[branch] = attempt;
      this.all.add(attempt);
      this.running += 1;
      attempt.add(attempt$.subscribe(new Runner(branch, this)));
    });
  }

  heard(branch: Branch, value: T): void {
    if (this.options.speaks(value)) {
      if (this.spoken === undefined) this.commit(branch);
      this.out.next(value);
    } else if (this.spoken === undefined && branch === 'primary') {
      this.value$.next(value);
    }
  }

  failed(branch: Branch, error: unknown): void {
    if (this.spoken === branch) {
      this.fail(error);
      return;
    }
    (this.failures ??= new Map<Branch, unknown>()).set(branch, error);
    this.left(branch);
  }

  completed(branch: Branch): void {
    if (this.spoken === branch) this.end(() => this.out.complete());
    else this.left(branch);
  }

  /** From now on it is the result; whatever else there was is over. */
  private commit(branch: Branch): void {
    this.spoken = branch;
    this.attempts[branch === 'primary' ? 'backup' : 'primary']?.unsubscribe();
    this.signal.unsubscribe();
  }

  /** What is left when a branch has ended before any spoke. */
  private left(branch: Branch): void {
    const { failures = new Map<Branch, unknown>() } = this;
    this.running -= 1;
    if (branch === 'primary') this.value$.complete();
    if (this.running > 0) return;
    const [failure] = failures.values();
    if (failures.size === 2) this.fail(this.options.combine({ primary: failures.get('primary'), backup: failures.get('backup') }));
    else if (failures.size === 0) this.end(() => this.out.complete());
    else this.fail(failure);
  }
}

/** What a race hears of one branch. */
class Runner<T, S> implements Observer<T> {
  private readonly branch: Branch;
  private readonly race: Race<T, S>;

  constructor(branch: Branch, race: Race<T, S>) {
    this.branch = branch;
    this.race = race;
  }

  next(value: T): void {
    this.race.guarded(() => this.race.heard(this.branch, value));
  }

  error(error: unknown): void {
    this.race.guarded(() => this.race.failed(this.branch, error));
  }

  complete(): void {
    this.race.guarded(() => this.race.completed(this.branch));
  }
}
