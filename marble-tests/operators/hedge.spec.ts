import { describe, expect, test } from '@jest/globals';
import { EMPTY, NEVER, defer, finalize, map, merge, of, race, repeat, retry, switchMap, takeLast, tap, throwError, timer } from 'rxjs';
import type { MonoTypeOperatorFunction, Observable } from 'rxjs';
import { finalizeWith } from '../../lib/operators/finalizeWith.js';
import { hedge } from '../../lib/operators/hedge.js';
import type { HedgeOptions } from '../../lib/operators/hedge.js';
import { silence } from '../../lib/operators/silence.js';
import { marbles } from '../support/marbles.js';
import { asTheyGo } from './asTheyGo.js';
import { diagramOf } from './diagramOf.js';

/** Hedged by a backup that starts with each signal. Two failures become `p+b`. */
function hedged(signal$: Observable<string>, backup: Observable<string> | ((signal: string) => Observable<string>), more: Partial<HedgeOptions<string, string>> = {}): MonoTypeOperatorFunction<string> {
  return hedge<string, string>({
    when: () => signal$,
    backup: typeof backup === 'function' ? backup : () => backup,
    combine: (failures) => `${String(failures.primary)}+${String(failures.backup)}`,
    ...more,
  });
}

/** X and Y are weak completions. */
const weak = { isWeak: (last: string): boolean => last === 'X' || last === 'Y' };
const broken = (): never => { throw new TypeError('broken callback'); };
const brokenError = new TypeError('broken callback');

describe('hedge', () => {
  test('does what the diagram in its docstring shows', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const rows = {
      primary: '    --a-----------------------b-|',
      when: '       ----------s',
      backup: '               --x--y-|',
      result: '     -----------------(y|)',
      subscribed: ' ^----------------!',
    };
    expect(diagramOf('hedge')).toEqual(rows);

    const primary$ = cold(rows.primary);
    expectObservable(primary$.pipe(hedged(cold(rows.when), cold(rows.backup)))).toBe(rows.result);
    expectSubscriptions(primary$.subscriptions).toBe(rows.subscribed);
  }));

  test('without a signal it is the last value of the primary', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a--b--|   ');
    const primarySubs = '     ^-------!   ';
    const backup$ = cold('    --x|        ');
    const expected = '        --------(b|)';

    expectObservable(primary$.pipe(hedged(NEVER, backup$))).toBe(expected);
    expectSubscriptions(primary$.subscriptions).toBe(primarySubs);
    expectSubscriptions(backup$.subscriptions).toBe([]);
  }));

  test('H4: the primary wins when it completes first, and the backup is unsubscribed', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a----b--|   ');
    const primarySubs = '     ^---------!   ';
    const signal$ = cold('    ----s         ');
    const backup$ = cold('        --x--y--| ');
    const backupSubs = '      ----^-----!   ';
    const expected = '        ----------(b|)';

    expectObservable(primary$.pipe(hedged(signal$, backup$))).toBe(expected);
    expectSubscriptions(primary$.subscriptions).toBe(primarySubs);
    expectSubscriptions(backup$.subscriptions).toBe(backupSubs);
  }));

  test('H4: not the first to speak wins, but the first to complete', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a--b--c--d--e--|');
    const primarySubs = '     ^--------!        ';
    const signal$ = cold('    ----s             ');
    const backup$ = cold('        ----y|        ');
    const backupSubs = '      ----^----!        ';
    const expected = '        ---------(y|)     ';

    expectObservable(primary$.pipe(hedged(signal$, backup$))).toBe(expected);
    expectSubscriptions(primary$.subscriptions).toBe(primarySubs);
    expectSubscriptions(backup$.subscriptions).toBe(backupSubs);
  }));

  test('a source that never speaks, and no backup that does: nothing', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --------');
    const subs = '            ^-------';
    const signal$ = cold('    --s     ');
    const backup$ = cold('      ------');
    const backupSubs = '      --^-----';
    const expected = '        --------';

    expectObservable(primary$.pipe(hedged(signal$, backup$))).toBe(expected);
    expectSubscriptions(primary$.subscriptions).toBe(subs);
    expectSubscriptions(backup$.subscriptions).toBe(backupSubs);
  }));

  test('the signal is made from the primary, and brings its value to the backup', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a------------');
    const backup$ = cold('          ---z|   ');
    const backupSubs = '      ------^---!    ';
    const expected = '        ----------(r|) ';

    const op = hedge<string, string>({
      when: (shared$) => shared$.pipe(silence({ firstMs: 3, betweenMs: 4 })),
      backup: (kind) => backup$.pipe(map((last) => kind + last)),
      combine: broken,
    });
    expectObservable(primary$.pipe(op)).toBe(expected, { r: 'betweenz' });
    expectSubscriptions(backup$.subscriptions).toBe(backupSubs);
    expectSubscriptions(primary$.subscriptions).toBe('^---------!');
  }));

  test('H1, O4: the primary is subscribed once, whatever looks at it', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('--a--|');
    const op = hedge<string, string>({ when: (shared$) => merge(shared$, shared$), backup: () => NEVER, combine: broken });
    expectObservable(primary$.pipe(op)).toBe('-----(a|)');
    expectSubscriptions(primary$.subscriptions).toBe('^----!');
  }));
});

describe('hedge, at the same instant', () => {
  test('H4: the primary wins, whichever of the two was scheduled first', marbles(({ cold, hot, expectObservable }) => {
    const early$ = hot('      ------p|      ');
    const late$ = hot('       ------y|      ');
    const signal$ = cold('    --s           ');
    const expected = '        -------(p|)   ';
    const swapped = '         -------(y|)   ';

    expectObservable(early$.pipe(hedged(signal$, late$))).toBe(expected);
    expectObservable(late$.pipe(hedged(signal$, early$))).toBe(swapped);
  }));

  test('T4: also where each value is scheduled as it comes', marbles(({ cold, expectObservable }) => {
    const primary$ = asTheyGo([['a', 3], ['b', 4]]);
    const backup$ = asTheyGo([['y', 5]]);
    expectObservable(primary$.pipe(hedged(cold('--s'), backup$))).toBe('-------(b|)');
  }));

  test('the primary fails and the backup completes: the backup wins', marbles(({ cold, expectObservable }) => {
    const primary$ = cold('   ------#  ', undefined, 'p');
    const signal$ = cold('    --s      ');
    const backup$ = cold('      ---y|  ');
    const expected = '        ------(y|)';
    expectObservable(primary$.pipe(hedged(signal$, backup$))).toBe(expected);
  }));

  test('the backup fails and the primary completes: the primary wins', marbles(({ cold, expectObservable }) => {
    const primary$ = cold('   -----b|  ');
    const signal$ = cold('    --s      ');
    const backup$ = cold('      ----#  ', undefined, 'b');
    const expected = '        ------(b|)';
    expectObservable(primary$.pipe(hedged(signal$, backup$))).toBe(expected);
  }));
});

describe('hedge, when a branch fails', () => {
  test('H6: the primary fails while the backup runs: its failure is held back, the backup wins', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a---#       ', undefined, 'p');
    const primarySubs = '     ^-----!       ';
    const signal$ = cold('    ----s         ');
    const backup$ = cold('        --x--y-|  ');
    const backupSubs = '      ----^------!  ';
    const expected = '        -----------(y|)';

    expectObservable(primary$.pipe(hedged(signal$, backup$))).toBe(expected);
    expectSubscriptions(primary$.subscriptions).toBe(primarySubs);
    expectSubscriptions(backup$.subscriptions).toBe(backupSubs);
  }));

  test('H6: the backup fails while the primary runs: the primary goes on and wins', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a-------b--|  ');
    const primarySubs = '     ^------------!  ';
    const signal$ = cold('    ----s           ');
    const backup$ = cold('        --#         ', undefined, 'b');
    const backupSubs = '      ----^-!         ';
    const expected = '        -------------(b|)';

    expectObservable(primary$.pipe(hedged(signal$, backup$))).toBe(expected);
    expectSubscriptions(primary$.subscriptions).toBe(primarySubs);
    expectSubscriptions(backup$.subscriptions).toBe(backupSubs);
  }));

  test.each([
    ['the primary first', '------#', '----#', '--------#'],
    ['the backup first', '---------#', '-#', '---------#'],
    ['at the same instant', '------#', '--#', '------#'],
  ])('H7: both fail, %s: one combined failure with both', (_, primary, backup, expected) => {
    let combined = 0;
    marbles(({ cold, expectObservable }) => {
      const primary$ = cold(primary, undefined, 'p');
      const backup$ = cold(backup, undefined, 'b');
      const combine = (failures: { primary: unknown; backup: unknown }): unknown => {
        combined += 1;
        return failures;
      };
      expectObservable(primary$.pipe(hedged(cold('----s'), backup$, { combine }))).toBe(expected, undefined, { primary: 'p', backup: 'b', backups: ['b'] });
    })();
    expect(combined).toBe(1);
  });

  test('H8: the primary fails before any signal: its own failure, at once', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a--#  ', undefined, 'p');
    const signal$ = cold('    -------s');
    const signalSubs = '      ^----!  ';
    const backup$ = cold('    --y|    ');
    const expected = '        -----#  ';

    expectObservable(primary$.pipe(hedged(signal$, backup$))).toBe(expected, undefined, 'p');
    expectSubscriptions(signal$.subscriptions).toBe(signalSubs);
    expectSubscriptions(backup$.subscriptions).toBe([]);
  }));

  test('the signal does not see a failure of the primary, it sees an end', marbles(({ cold, expectObservable, flush }) => {
    const seen: string[] = [];
    const primary$ = cold('   --#       ', undefined, 'p');
    const signal$ = cold('    -s        ');
    const backup$ = cold('     ----y|   ');
    const expected = '        ------(y|)';

    const watching = (shared$: Observable<string>): Observable<string> => shared$.pipe(tap({ error: () => seen.push('error'), complete: () => seen.push('complete') }));
    expectObservable(primary$.pipe(hedged(NEVER, backup$, { when: (shared$) => merge(signal$, watching(shared$)) }))).toBe(expected);
    flush();
    expect(seen).toEqual(['complete']);
  }));

  test('H3: after a backup that failed no signal asks for another', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a--------b--|');
    const signal$ = cold('    ---s---s--s    ');
    const backup$ = cold('       -#          ', undefined, 'b');
    const backupSubs = '      ---^!          ';
    const expected = '        --------------(b|)';

    expectObservable(primary$.pipe(hedged(signal$, backup$))).toBe(expected);
    expectSubscriptions(backup$.subscriptions).toBe(backupSubs);
  }));

  test('H3: while a backup runs no signal asks for another', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a-----------|  ');
    const signal$ = cold('    ---s-s-s         ');
    const backup$ = cold('       -----y|       ');
    const backupSubs = '      ---^-----!       ';
    const expected = '        ---------(y|)    ';

    expectObservable(primary$.pipe(hedged(signal$, backup$))).toBe(expected);
    expectSubscriptions(backup$.subscriptions).toBe(backupSubs);
  }));
});

describe('hedge, when the backup is refused', () => {
  test('H3: an empty backup is no hedge; the primary goes on as if hedging were off, the next signal asks again', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a-------------|');
    const primarySubs = '     ^------------!   ';
    const signal$ = cold('    ---s----s        ');
    const refusal$ = cold('      |             ');
    const backup$ = cold('            ---y-|   ');
    const backupSubs = '      --------^----!   ';
    const expected = '        -------------(y|)';

    const answers = [refusal$, backup$];
    expectObservable(primary$.pipe(hedged(signal$, () => answers.shift()!))).toBe(expected);
    expectSubscriptions(primary$.subscriptions).toBe(primarySubs);
    expectSubscriptions(refusal$.subscriptions).toBe('---(^!)');
    expectSubscriptions(backup$.subscriptions).toBe(backupSubs);
  }));

  test('H8: the primary fails after a refused backup: its own failure, at once', marbles(({ cold, expectObservable }) => {
    const primary$ = cold('   --a----#', undefined, 'p');
    const signal$ = cold('    ---s    ');
    const refusal$ = cold('      |    ');
    const expected = '        -------#';
    expectObservable(primary$.pipe(hedged(signal$, refusal$))).toBe(expected, undefined, 'p');
  }));

  test('H3: the primary fails while admission is undecided, then the backup is refused: the failure comes with the refusal', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a--#      ', undefined, 'p');
    const primarySubs = '     ^----!      ';
    const signal$ = cold('    ---s        ');
    const backup$ = cold('       -----|   ');
    const backupSubs = '      ---^----!   ';
    const expected = '        --------#   ';

    expectObservable(primary$.pipe(hedged(signal$, backup$))).toBe(expected, undefined, 'p');
    expectSubscriptions(primary$.subscriptions).toBe(primarySubs);
    expectSubscriptions(backup$.subscriptions).toBe(backupSubs);
  }));

  test('H3: … then it is granted: the backup runs and decides', marbles(({ cold, expectObservable }) => {
    const primary$ = cold('   --a--#         ', undefined, 'p');
    const signal$ = cold('    ---s           ');
    const won$ = cold('          -----x--y|  ');
    const lost$ = cold('         -----x--#   ', undefined, 'b');
    const winning = '         ------------(y|)';
    const losing = '          -----------#   ';

    expectObservable(primary$.pipe(hedged(signal$, won$))).toBe(winning);
    expectObservable(primary$.pipe(hedged(signal$, lost$))).toBe(losing, undefined, 'p+b');
  }));

  test('a signal that ended with its own refusal leaves the primary alone', marbles(({ cold, expectObservable }) => {
    expectObservable(cold('--a----|').pipe(hedged(cold('---(s|)'), EMPTY))).toBe('-------(a|)');
    expectObservable(cold('--a----|').pipe(hedged(EMPTY, EMPTY))).toBe('-------(a|)');
  }));
});

describe('hedge, weak completions', () => {
  test('H4: a weak primary waits for the backup, which wins', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a--X|        ');
    const primarySubs = '     ^-----!        ';
    const signal$ = cold('    ---s           ');
    const backup$ = cold('       -------y|   ');
    const backupSubs = '      ---^-------!   ';
    const expected = '        -----------(y|)';

    expectObservable(primary$.pipe(hedged(signal$, backup$, weak))).toBe(expected);
    expectSubscriptions(primary$.subscriptions).toBe(primarySubs);
    expectSubscriptions(backup$.subscriptions).toBe(backupSubs);
  }));

  test('H4: a weak backup waits for the primary, which wins; no signal asks meanwhile', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a---------b|   ');
    const signal$ = cold('    ---s----s        ');
    const backup$ = cold('       --X|          ');
    const backupSubs = '      ---^--!          ';
    const expected = '        -------------(b|)';

    expectObservable(primary$.pipe(hedged(signal$, backup$, weak))).toBe(expected);
    expectSubscriptions(backup$.subscriptions).toBe(backupSubs);
  }));

  test.each([
    ['a weak primary, then the backup fails', '--X|', '-----#', '-------(X|)', 'primary'],
    ['a weak backup, then the primary fails', '--a------#', '--X|', '---------(X|)', 'backup'],
    ['the backup fails, then a weak primary', '--a------X|', '--#', '----------(X|)', 'primary'],
    ['the primary fails, then a weak backup', '--a-#', '------X|', '---------(X|)', 'backup'],
    ['both weak, the primary first: the first to complete', '--X|', '-----Y|', '--------(X|)', 'primary'],
    ['both weak, the backup first: the first to complete', '--a------Y|', '--X|', '----------(X|)', 'backup'],
    ['both weak at the same instant: the primary', '--a---Y|', '----X|', '-------(Y|)', 'primary'],
    ['a weak primary, then the backup is refused', '--X|', '------|', '--------(X|)', 'primary'],
    ['a refused backup, then a weak primary', '--a---X|', '|', '-------(X|)', 'primary'],
  ])('H4: %s: it is delivered', (_, primary, backup, expected, winner) => {
    const decided: string[] = [];
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold(primary, undefined, 'p').pipe(hedged(cold('--s'), cold(backup, undefined, 'b'), { ...weak, onDecided: (branch) => decided.push(branch) }))).toBe(expected);
    })();
    expect(decided).toEqual([winner]);
  });

  test('a weak primary alone is delivered at once', marbles(({ cold, expectObservable }) => {
    expectObservable(cold('--a--X|').pipe(hedged(NEVER, NEVER, weak))).toBe('------(X|)');
  }));
});

describe('hedge, empty completions', () => {
  test('an empty primary alone is empty', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   ---|');
    const primarySubs = '     ^--!';
    const expected = '        ---|';
    expectObservable(primary$.pipe(hedged(NEVER, NEVER))).toBe(expected);
    expectSubscriptions(primary$.subscriptions).toBe(primarySubs);
  }));

  test('while the backup runs it waits for that one, which wins', marbles(({ cold, expectObservable }) => {
    const primary$ = cold('   ----|        ');
    const signal$ = cold('    --s          ');
    const backup$ = cold('      -----y|    ');
    const expected = '        --------(y|) ';
    expectObservable(primary$.pipe(hedged(signal$, backup$))).toBe(expected);
  }));

  test.each([
    ['the backup fails', '----|', '-----#', '-------|'],
    ['the backup had failed before', '------|', '--#', '------|'],
    ['the backup is refused', '----|', '------|', '--------|'],
  ])('and is the result where %s: never worse than without a hedge', (_, primary, backup, expected) => {
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold(primary).pipe(hedged(cold('--s'), cold(backup)))).toBe(expected);
    })();
  });

  test('even a weak backup is better', marbles(({ cold, expectObservable }) => {
    expectObservable(cold('----|').pipe(hedged(cold('--s'), cold('-----X|'), weak))).toBe('--------(X|)');
    expectObservable(cold('--------|').pipe(hedged(cold('--s'), cold('--X|'), weak))).toBe('--------(X|)');
  }));
});

describe('hedge, in what order', () => {
  const told = (log: string[], name: string) => <T>(source$: Observable<T>): Observable<T> =>
    source$.pipe(finalizeWith(({ type }) => log.push(`${name} ${type}`)));
  const observer = (log: string[]): { next: (value: string) => void; complete: () => void; error: () => void } => ({
    next: (value) => log.push(`next ${value}`),
    complete: () => log.push('complete'),
    error: () => log.push('error'),
  });

  test('H5, X2: decided, then the loser is unsubscribed, then the result is emitted; the backup wins', () => {
    const log: string[] = [];
    marbles(({ cold }) => {
      const primary$ = cold('--a-------------').pipe(told(log, 'primary'));
      const backup$ = cold('--y|').pipe(told(log, 'backup'));
      primary$.pipe(hedged(cold('---s'), backup$, { onDecided: (winner, last) => log.push(`decided ${winner} ${last}`) })).subscribe(observer(log));
    })();
    expect(log).toEqual(['backup completed', 'decided backup y', 'primary unsubscribed', 'next y', 'complete']);
  });

  test('H5, X2: … the primary wins', () => {
    const log: string[] = [];
    marbles(({ cold }) => {
      const primary$ = cold('--a----|').pipe(told(log, 'primary'));
      const backup$ = cold('--y------').pipe(told(log, 'backup'));
      primary$.pipe(hedged(cold('---s'), backup$, { onDecided: (winner, last) => log.push(`decided ${winner} ${last}`) })).subscribe(observer(log));
    })();
    expect(log).toEqual(['primary completed', 'decided primary a', 'backup unsubscribed', 'next a', 'complete']);
  });

  test('X2: a plain finalize on both branches has run, too, before the result is emitted', () => {
    const log: string[] = [];
    const closed = (name: string): MonoTypeOperatorFunction<string> => finalize(() => log.push(`${name} closed`));
    marbles(({ cold }) => {
      cold('--a----|').pipe(closed('primary'), hedged(cold('---s'), cold('--y------').pipe(closed('backup')))).subscribe(observer(log));
    })();
    expect(log.slice(0, 2).sort()).toEqual(['backup closed', 'primary closed']);
    expect(log.slice(2)).toEqual(['next a', 'complete']);
  });

  test('X2: also before a failure is passed on', () => {
    const log: string[] = [];
    marbles(({ cold }) => {
      cold('--a--#').pipe(finalize(() => log.push('primary closed')), hedged(cold('---s'), cold('----#').pipe(finalize(() => log.push('backup closed'))))).subscribe(observer(log));
    })();
    expect(log).toEqual(['primary closed', 'backup closed', 'error']);
  });

  test('nothing is decided where the result is a failure or nobody waits for it', marbles(({ cold, expectObservable, flush }) => {
    const decided: string[] = [];
    const onDecided = (branch: string): unknown => decided.push(branch);
    expectObservable(cold('---#', undefined, 'p').pipe(hedged(cold('--s'), cold('---#', undefined, 'b'), { onDecided }))).toBe('-----#', undefined, 'p+b');
    expectObservable(cold('------a|').pipe(hedged(cold('--s'), cold('------y|'), { onDecided })), '----!').toBe('----');
    flush();
    expect(decided).toEqual([]);
  }));

  test('X1: unsubscribing stops both branches and the signal', marbles(({ cold, expectObservable, expectSubscriptions, flush, scheduler }) => {
    const primary$ = cold('   --a-------b|');
    const signal$ = cold('    ---s--------');
    const backup$ = cold('       --x----y|');
    const unsub = '           ------!     ';
    const primarySubs = '     ^-----!     ';
    const backupSubs = '      ---^--!     ';
    const expected = '        ------------';

    expectObservable(primary$.pipe(hedged(signal$, backup$)), unsub).toBe(expected);
    expectSubscriptions(primary$.subscriptions).toBe(primarySubs);
    expectSubscriptions(signal$.subscriptions).toBe(primarySubs);
    expectSubscriptions(backup$.subscriptions).toBe(backupSubs);
    flush();
    expect(scheduler.actions).toHaveLength(0);
  }));

  test('unsubscribing in the turn in which the backup has completed leaves nothing', marbles(({ cold, expectObservable }) => {
    // The backup's completion takes one turn more, in which the other side may leave.
    const backup$ = asTheyGo([['y', 4]]);
    expectObservable(cold('--a-------').pipe(hedged(cold('--s'), backup$)), '------!').toBe('----------');
  }));
});

describe('hedge, callbacks that throw', () => {
  test.each<[string, Partial<HedgeOptions<string, string>>, string]>([
    ['when', { when: broken }, '#'],
    ['isWeak', { isWeak: broken }, '-----#'],
    ['onDecided', { onDecided: broken }, '-----#'],
  ])('%s: the result fails at once and everything stops', (_, options, expected) => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const primary$ = cold('   --a-------|');
      const backup$ = cold('       -y|     ');
      expectObservable(primary$.pipe(hedged(cold('---s'), backup$, options))).toBe(expected, undefined, brokenError);
      expectSubscriptions(primary$.subscriptions).toBe(expected === '#' ? [] : '^----!');
      expectSubscriptions(backup$.subscriptions).toBe(expected === '#' ? [] : '---^-!');
    })();
  });

  test('isWeak, for the primary: its failure is not taken for the primary\'s', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const backup$ = cold('-------y|');
    expectObservable(cold('--a-|').pipe(hedged(cold('---s'), backup$, { isWeak: broken }))).toBe('----#', undefined, brokenError);
    expectSubscriptions(backup$.subscriptions).toBe('---^!');
  }));

  test('combine: the result fails with what it threw', marbles(({ cold, expectObservable }) => {
    expectObservable(cold('---#').pipe(hedged(cold('--s'), cold('---#'), { combine: broken }))).toBe('-----#', undefined, brokenError);
  }));

  test('backup: a backup that failed, so the primary goes on', marbles(({ cold, expectObservable }) => {
    expectObservable(cold('------a|').pipe(hedged(cold('--s'), broken))).toBe('-------(a|)');
    expectObservable(cold('------#', undefined, 'p').pipe(hedged(cold('--s'), broken))).toBe('------#', undefined, 'p+TypeError: broken callback');
  }));

  test('a signal that fails: the result fails, for nobody watches any more', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('------a|');
    expectObservable(primary$.pipe(hedged(cold('--#', undefined, 's'), NEVER))).toBe('--#', undefined, 's');
    expectSubscriptions(primary$.subscriptions).toBe('^-!');
  }));
});

describe('hedge, synchronous sources', () => {
  const failing$ = throwError(() => brokenError);

  test('a primary that ends while it is subscribed', marbles(({ expectObservable }) => {
    expectObservable(of('a', 'b').pipe(hedged(of('s'), NEVER))).toBe('(b|)');
    expectObservable(failing$.pipe(hedged(NEVER, NEVER))).toBe('#', undefined, brokenError);
    expectObservable(EMPTY.pipe(hedged(NEVER, NEVER))).toBe('|');
  }));

  test('a backup that ends while it is subscribed', marbles(({ cold, expectObservable }) => {
    expectObservable(cold('---a|').pipe(hedged(cold('--s'), of('x', 'y')))).toBe('--(y|)');
    expectObservable(cold('---a|').pipe(hedged(cold('--s'), failing$))).toBe('----(a|)');
  }));

  test('a signal that comes while it is subscribed: the primary wins at the same instant', marbles(({ cold, expectObservable }) => {
    expectObservable(of('a').pipe(hedged(of('s'), of('y')))).toBe('(a|)');
    expectObservable(failing$.pipe(hedged(of('s'), of('y')))).toBe('(y|)');
    expectObservable(cold('--a|').pipe(hedged(of('s'), of('y')))).toBe('(y|)');
  }));
});

test('every subscription to a hedge is a contest of its own', marbles(({ cold, expectObservable, expectSubscriptions }) => {
  const primary$ = cold('   --a------|                       ');
  const backup$ = cold('      ---y|                          ');
  const failing$ = cold('   --a--#                           ', undefined, 'p');
  const late = '            ---^                             ';

  const signal$ = cold('  --s');
  const once$ = primary$.pipe(hedged(signal$, backup$));
  expectObservable(once$).toBe('            ------(y|)       ');
  expectObservable(once$, late).toBe('      ---------(y|)    ');
  expectObservable(once$.pipe(repeat(2))).toBe('------y-----(y|)');
  // Each try has its own failures: one that failed alone is not combined with one of the try before.
  expectObservable(failing$.pipe(hedged(signal$, cold('--#', undefined, 'b')), retry(1))).toBe('----------#', undefined, 'p+b');
  expectObservable(defer(() => failing$.pipe(hedged(NEVER, NEVER))).pipe(retry(1))).toBe('             ----------#', undefined, 'p');
  expectSubscriptions(primary$.subscriptions).toBe(['^-----!', '^-----!', '---^-----!', '------^-----!']);
}));

describe('why not RxJS race', () => {
  // Both contestants as a reader would first write them: folded to their last value, then raced.
  const raced = (primary$: Observable<string>, startMs: number, backup$: Observable<string>): Observable<string> =>
    race(primary$.pipe(takeLast(1)), timer(startMs).pipe(switchMap(() => backup$.pipe(takeLast(1)))));

  test('its first error wins although the other would have answered', marbles(({ cold, expectObservable }) => {
    const primary$ = cold('   --a----#    ', undefined, 'p');
    const backup$ = cold('      -------y|');
    const withRace = '        -------#    ';
    const withHedge = '       ----------(y|)';

    expectObservable(raced(primary$, 2, backup$)).toBe(withRace, undefined, 'p');
    expectObservable(primary$.pipe(hedged(cold('--s'), backup$))).toBe(withHedge);
  }));

  test('its first empty completion wins although the other would have answered', marbles(({ cold, expectObservable }) => {
    const primary$ = cold('   -------|    ');
    const backup$ = cold('      -------y|');
    const withRace = '        -------|    ';
    const withHedge = '       ----------(y|)';

    expectObservable(raced(primary$, 2, backup$)).toBe(withRace);
    expectObservable(primary$.pipe(hedged(cold('--s'), backup$))).toBe(withHedge);
  }));

  test('a backup that was refused ends it', marbles(({ cold, expectObservable }) => {
    const primary$ = cold('   --a------b|');
    const refusal$ = cold('     |        ');
    const withRace = '        --|        ';
    const withHedge = '       ----------(b|)';

    expectObservable(raced(primary$, 2, refusal$)).toBe(withRace);
    expectObservable(primary$.pipe(hedged(cold('--s'), refusal$))).toBe(withHedge);
  }));

  test('not folded, its first word wins, and nothing is awaited any more', marbles(({ cold, expectObservable }) => {
    const primary$ = cold('   --a------------');
    const backup$ = cold('      -x--y|       ');
    const withRace = '        --a------------';
    const withHedge = '       -------(y|)    ';

    expectObservable(race(primary$, timer(2).pipe(switchMap(() => backup$)))).toBe(withRace);
    expectObservable(primary$.pipe(hedged(cold('--s'), backup$))).toBe(withHedge);
  }));
});
