import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { EMPTY, NEVER, concat, defer, finalize, ignoreElements, map, of, retry, switchMap, takeLast, throwError, timer } from 'rxjs';
import type { MonoTypeOperatorFunction, Observable } from 'rxjs';
import { hedge } from '../../lib/operators/hedge.js';
import type { HedgeOptions } from '../../lib/operators/hedge.js';
import { silence } from '../../lib/operators/silence.js';
import { marbles } from '../support/marbles.js';
import { asTheyGo } from './asTheyGo.js';

const quiet = (attempt$: Observable<string>): Observable<string> => attempt$.pipe(silence({ firstMs: 4, betweenMs: 4 }));

/** To be silent for 4 is too long; the backups in the order in which they are asked for. Failures become `p+b+c`. */
function several(backups: readonly Observable<string>[], more: Partial<HedgeOptions<string, string>> = {}): MonoTypeOperatorFunction<string> {
  return (primary$) =>
    defer(() => {
      const left = [...backups];
      const backup = (): Observable<string> => left.shift() ?? throwError(() => new Error('one too many'));
      const combine: HedgeOptions<string, string>['combine'] = (failures) => [failures.primary, ...failures.backups].join('+');
      return primary$.pipe(hedge<string, string>({ when: quiet, backup, maxBackups: backups.length, combine, ...more }));
    });
}

/** X, Y and Z are weak completions. */
const weak = { isWeak: (last: string): boolean => last === last.toUpperCase() };
const broken = (): never => { throw new TypeError('broken callback'); };
const brokenError = new TypeError('broken callback');

describe('hedge with several backups', () => {
  test('H14: does what the second diagram in its docstring shows', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const rows = {
      'the primary': '    --a------------------d--|',
      'it is silent': '   ------s',
      'first backup': '         --x-----------------y-|',
      'all are silent': ' ------------s',
      'second backup': '              --y-z-|',
      'the result': '     ------------------(z|)',
    };
    const operator = readFileSync(new URL('../../lib/operators/hedge.ts', import.meta.url), 'utf8');
    expect(operator).toContain(Object.entries(rows).map(([label, row]) => ` *     ${label}:${row}\n`).join(''));
    const startedBy = (signal: string): string => `${signal.trim().replace('s', '^').padEnd(18, '-')}!`;

    const primary$ = cold(rows['the primary']);
    const first$ = cold(rows['first backup']);
    const second$ = cold(rows['second backup']);
    expectObservable(primary$.pipe(several([first$, second$]))).toBe(rows['the result']);
    expectSubscriptions(primary$.subscriptions).toBe('^-----------------!');
    expectSubscriptions(first$.subscriptions).toBe(startedBy(rows['it is silent']));
    expectSubscriptions(second$.subscriptions).toBe(startedBy(rows['all are silent']));
  }));

  test('H14: three of them, each when all that run have been silent; the last one wins and the others are unsubscribed', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a---------------------- ');
    const primarySubs = '     ^---------------------!   ';
    const first$ = cold('           --x---------------- ');
    const firstSubs = '       ------^---------------!   ';
    const second$ = cold('                --y----------');
    const secondSubs = '      ------------^---------!  ';
    const third$ = cold('                       --z-|  ');
    const thirdSubs = '       ------------------^---!  ';
    const expected = '        ----------------------(z|)';

    expectObservable(primary$.pipe(several([first$, second$, third$]))).toBe(expected);
    expectSubscriptions(primary$.subscriptions).toBe(primarySubs);
    expectSubscriptions(first$.subscriptions).toBe(firstSubs);
    expectSubscriptions(second$.subscriptions).toBe(secondSubs);
    expectSubscriptions(third$.subscriptions).toBe(thirdSubs);
  }));

  test('H4: the primary wins beside all of them when it completes first', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a-------------b|   ');
    const first$ = cold('           --x----------- ');
    const firstSubs = '       ------^----------!   ';
    const second$ = cold('                --y-----|');
    const secondSubs = '      ------------^----!   ';
    const expected = '        -----------------(b|)';

    expectObservable(primary$.pipe(several([first$, second$]))).toBe(expected);
    expectSubscriptions(first$.subscriptions).toBe(firstSubs);
    expectSubscriptions(second$.subscriptions).toBe(secondSubs);
  }));

  test('H14: a value of any attempt takes its silence back', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a-------b----------');
    const first$ = cold('           --x------------');
    const second$ = cold('                  --z|   ');
    const secondSubs = '      --------------^--!   ';
    const expected = '        -----------------(z|)';

    expectObservable(primary$.pipe(several([first$, second$]))).toBe(expected);
    expectSubscriptions(second$.subscriptions).toBe(secondSubs);
  }));

  test('H14: none starts while one speaks', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a------------------------   ');
    const first$ = cold('           --x--x--x--x--x--x--|   ');
    const second$ = cold('    z|                            ');
    const expected = '        --------------------------(x|)';

    expectObservable(primary$.pipe(several([first$, second$]))).toBe(expected);
    expectSubscriptions(second$.subscriptions).toBe([]);
  }));

  test('H14: the first one is asked for by `when` alone, a further one by `again`', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a------------------    ');
    const when$ = cold('      ---------s-s-s-s-----    ');
    const first$ = cold('              -----x------    ');
    const firstSubs = '       ---------^-----------!   ';
    const second$ = cold('                      --z|   ');
    const secondSubs = '      ------------------^--!   ';
    const expected = '        ---------------------(z|)';

    expectObservable(primary$.pipe(several([first$, second$], { when: () => when$, again: quiet }))).toBe(expected);
    expectSubscriptions(first$.subscriptions).toBe(firstSubs);
    expectSubscriptions(second$.subscriptions).toBe(secondSubs);
  }));

  test('the signal that has made the silence complete comes to the backup, with its value', () => {
    const signals: string[] = [];
    marbles(({ cold, expectObservable }) => {
      const primary$ = cold(' --a-------b----   ');
      const first$ = cold('         --x------   ');
      const second$ = cold('                z|  ');
      const expected = '      ---------------(z|)';

      const after = (attempt$: Observable<string>): Observable<string> => attempt$.pipe(switchMap((last) => timer(4).pipe(map(() => `after ${last}`))));
      const backup = (signal: string): Observable<string> => (signals.push(signal) === 1 ? first$ : second$);
      expectObservable(primary$.pipe(several([], { when: after, backup, maxBackups: 2 }))).toBe(expected);
    })();
    expect(signals).toEqual(['after a', 'after b']);
  });

  test('… and the latest where one is silent for the second time, after a refusal', () => {
    const signals: string[] = [];
    marbles(({ cold, expectObservable }) => {
      const primary$ = cold(' --a-----------   ');
      const first$ = cold('         --x-----   ');
      const second$ = cold('               z| ');
      const expected = '      ---------------(z|)';

      const after = (attempt$: Observable<string>): Observable<string> => attempt$.pipe(switchMap((last) => timer(4, 4).pipe(map((n) => `${last}${n}`))));
      const backup = (signal: string): Observable<string> => [first$, EMPTY, second$][signals.push(signal) - 1] ?? NEVER;
      expectObservable(primary$.pipe(several([], { when: after, backup, maxBackups: 2 }))).toBe(expected);
    })();
    expect(signals).toEqual(['a0', 'x0', 'a2']);
  });

  test('a signal that an attempt gives when it has ended counts for nothing', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a----------b|   ');
    const when$ = cold('      ------s           ');
    const first$ = cold('           -x#         ');
    const second$ = cold('    z|                ');
    const expected = '        --------------(b|)';

    expectObservable(primary$.pipe(several([first$, second$], { when: () => when$, again: takeLast(1) }))).toBe(expected);
    expectSubscriptions(second$.subscriptions).toBe([]);
  }));

  test('`again` is made for each attempt when it starts, and not at all for one backup', () => {
    const starts: number[] = [];
    marbles(({ cold, expectObservable, scheduler }) => {
      const again = (attempt$: Observable<string>): Observable<string> => {
        starts.push(scheduler.now());
        return quiet(attempt$);
      };
      expectObservable(cold('--a-----').pipe(several([cold('--x------'), cold('--y|')], { again }))).toBe('---------------(y|)');
      expectObservable(cold('--a-----').pipe(several([cold('--y|')], { again: broken }))).toBe('           ---------(y|)');
    })();
    expect(starts).toEqual([0, 6, 12]);
  });

  test('X2: all that lose are closed before the result is emitted; decided once', () => {
    const log: string[] = [];
    const closed = (name: string): MonoTypeOperatorFunction<string> => finalize(() => log.push(`${name} closed`));
    marbles(({ cold }) => {
      const backups = [cold('--x--------').pipe(closed('first')), cold('--y|').pipe(closed('second'))];
      const onDecided = (winner: string, last: string): unknown => log.push(`decided ${winner} ${last}`);
      cold('--a----------').pipe(closed('primary'), several(backups, { onDecided })).subscribe({ next: (last) => log.push(last), complete: () => log.push('complete') });
    })();
    expect(log.slice(0, 2)).toEqual(['second closed', 'decided backup y']);
    expect(log.slice(2, 4).sort()).toEqual(['first closed', 'primary closed']);
    expect(log.slice(4)).toEqual(['y', 'complete']);
  });

  test('X1: unsubscribing stops all of them and every timer', marbles(({ cold, expectObservable, expectSubscriptions, flush, scheduler }) => {
    const primary$ = cold('   --a------------');
    const first$ = cold('           --x------');
    const second$ = cold('                --y');
    const unsub = '           --------------!';
    const primarySubs = '     ^-------------!';
    const firstSubs = '       ------^-------!';
    const secondSubs = '      ------------^-!';
    const expected = '        ---------------';

    expectObservable(primary$.pipe(several([first$, second$, NEVER])), unsub).toBe(expected);
    expectSubscriptions(primary$.subscriptions).toBe(primarySubs);
    expectSubscriptions(first$.subscriptions).toBe(firstSubs);
    expectSubscriptions(second$.subscriptions).toBe(secondSubs);
    flush();
    expect(scheduler.actions).toHaveLength(0);
  }));
});

describe('hedge with several backups, when some fail', () => {
  test('H6: one that fails is no longer waited for: where the rest is silent the next starts at once', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a----------       ');
    const primarySubs = '     ^-----------!       ';
    const first$ = cold('           -x#           ', undefined, 'b');
    const firstSubs = '       ------^-!           ';
    const second$ = cold('            ---z|       ');
    const secondSubs = '      --------^---!       ';
    const expected = '        ------------(z|)    ';

    expectObservable(primary$.pipe(several([first$, second$]))).toBe(expected);
    expectSubscriptions(primary$.subscriptions).toBe(primarySubs);
    expectSubscriptions(first$.subscriptions).toBe(firstSubs);
    expectSubscriptions(second$.subscriptions).toBe(secondSubs);
  }));

  test('H6: … where the rest is not silent it starts when that is', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a----b-------    ');
    const first$ = cold('           -x#          ', undefined, 'b');
    const second$ = cold('               ---z|   ');
    const secondSubs = '      -----------^---!   ';
    const expected = '        ---------------(z|)';

    expectObservable(primary$.pipe(several([first$, second$]))).toBe(expected);
    expectSubscriptions(second$.subscriptions).toBe(secondSubs);
  }));

  test('H6: the primary fails beside a silent backup: the next starts at once, and both go on', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a-------b--#           ', undefined, 'p');
    const primarySubs = '     ^------------!           ';
    const first$ = cold('           --x-----------y|   ');
    const firstSubs = '       ------^--------------!   ';
    const second$ = cold('                 ---z--#     ', undefined, 'c');
    const secondSubs = '      -------------^-----!     ';
    const expected = '        ---------------------(y|)';

    expectObservable(primary$.pipe(several([first$, second$]))).toBe(expected);
    expectSubscriptions(primary$.subscriptions).toBe(primarySubs);
    expectSubscriptions(first$.subscriptions).toBe(firstSubs);
    expectSubscriptions(second$.subscriptions).toBe(secondSubs);
  }));

  test('H14: no more than so many, failed ones included', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a---------b-----------c|   ');
    const first$ = cold('           -#                     ', undefined, 'b');
    const second$ = cold('           --#                   ', undefined, 'c');
    const secondSubs = '      -------^-!                   ';
    const third$ = cold('     z|                           ');
    const expected = '        -------------------------(c|)';

    expectObservable(primary$.pipe(several([first$, second$, third$], { maxBackups: 2 }))).toBe(expected);
    expectSubscriptions(second$.subscriptions).toBe(secondSubs);
    expectSubscriptions(third$.subscriptions).toBe([]);
  }));

  test.each([
    ['in order of start', '--a-------------#', '--x-----------#', '--y---------#', '------------------------#'],
    ['the other way round', '--a---------------------#', '--x-----------#', '--y-#', '------------------------#'],
    ['at one instant', '--a-----------------#', '--x-----------#', '--y-----#', '--------------------#'],
  ])('H7: all fail, %s: one failure of all, in order of start', (_, primary, first, second, expected) => {
    const combined: unknown[] = [];
    marbles(({ cold, expectObservable }) => {
      const combine = (failures: unknown): string => {
        combined.push(failures);
        return 'all';
      };
      expectObservable(cold(primary, undefined, 'p').pipe(several([cold(first, undefined, 'b'), cold(second, undefined, 'c')], { combine }))).toBe(expected, undefined, 'all');
    })();
    expect(combined).toEqual([{ primary: 'p', backup: 'b', backups: ['b', 'c'] }]);
  });

  test('H8: the primary alone: its own error', marbles(({ cold, expectObservable }) => {
    expectObservable(cold('--a-#', undefined, 'p').pipe(several([NEVER, NEVER], { combine: broken }))).toBe('   ----#', undefined, 'p');
    expectObservable(cold('--a-----#', undefined, 'p').pipe(several([EMPTY, NEVER], { combine: broken }))).toBe('--------#', undefined, 'p');
  }));
});

describe('hedge with several backups, when one is refused', () => {
  test('H3: it does not count, and is asked for again after another value and another silence of all', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a-----------b----------');
    const first$ = cold('           --x----------------');
    const firstSubs = '       ------^--------------!   ';
    const refusal$ = cold('               |            ');
    const refusalSubs = '     ------------(^!)         ';
    const second$ = cold('                      --z|   ');
    const secondSubs = '      ------------------^--!   ';
    const expected = '        ---------------------(z|)';

    expectObservable(primary$.pipe(several([first$, refusal$, second$], { maxBackups: 2 }))).toBe(expected);
    expectSubscriptions(first$.subscriptions).toBe(firstSubs);
    expectSubscriptions(refusal$.subscriptions).toBe(refusalSubs);
    expectSubscriptions(second$.subscriptions).toBe(secondSubs);
  }));

  test('H3: the first one is refused: the next `when` asks for it again, not `again`', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a---------------');
    const when$ = cold('      ---s-------s------');
    const refusal$ = cold('      |              ');
    const refusalSubs = '     ---(^!)           ';
    const first$ = cold('                --z|   ');
    const firstSubs = '       -----------^--!   ';
    const expected = '        --------------(z|)';

    expectObservable(primary$.pipe(several([refusal$, first$], { when: () => when$, again: quiet }))).toBe(expected);
    expectSubscriptions(refusal$.subscriptions).toBe(refusalSubs);
    expectSubscriptions(first$.subscriptions).toBe(firstSubs);
  }));

  test('H3: where then another fails, and the rest is silent, it is asked for again at once', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a-------------  ');
    const first$ = cold('           --x------#  ', undefined, 'b');
    const second$ = cold('                   z| ');
    const secondSubs = '      ---------------^!  ';
    const expected = '        ----------------(z|)';

    expectObservable(primary$.pipe(several([first$, EMPTY, second$], { maxBackups: 2 }))).toBe(expected);
    expectSubscriptions(second$.subscriptions).toBe(secondSubs);
  }));

  test('H3: while one has neither spoken nor ended, none is asked for', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a-----------b----------- ');
    const first$ = cold('           --x----------------- ');
    const second$ = cold('                ----------y--| ');
    const third$ = cold('     z|                         ');
    const expected = '        -------------------------(y|)';

    expectObservable(primary$.pipe(several([first$, second$, third$]))).toBe(expected);
    expectSubscriptions(second$.subscriptions).toBe('------------^------------!');
    expectSubscriptions(third$.subscriptions).toBe([]);
  }));

  test('H3: meanwhile all others fail: their failure waits, and comes with the refusal', marbles(({ cold, expectObservable }) => {
    const primary$ = cold('   --a-----------#          ', undefined, 'p');
    const first$ = cold('           --x-------#        ', undefined, 'b');
    const refused$ = cold('               --------|    ');
    const granted$ = cold('               --------z|   ');
    const refusal = '         --------------------#    ';
    const expected = '        ---------------------(z|)';

    expectObservable(primary$.pipe(several([first$, refused$]))).toBe(refusal, undefined, 'p+b');
    expectObservable(primary$.pipe(several([first$, granted$]))).toBe(expected);
  }));
});

describe('hedge with several backups, weak completions', () => {
  test('H4: one waits for all others, and where they are silent the next starts', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a-----------    ');
    const first$ = cold('           --(X|)      ');
    const firstSubs = '       ------^-!         ';
    const second$ = cold('            -----z|   ');
    const secondSubs = '      --------^-----!   ';
    const expected = '        --------------(z|)';

    expectObservable(primary$.pipe(several([first$, second$], weak))).toBe(expected);
    expectSubscriptions(first$.subscriptions).toBe(firstSubs);
    expectSubscriptions(second$.subscriptions).toBe(secondSubs);
  }));

  test.each([
    ['all weak: the first to complete', '--a-----------Z|', '--(X|)', '---Y|', '---------------(X|)', 'backup'],
    ['a weak primary, all others fail', '--a----------(Z|)', '--x------#', '--y-#', '----------------(Z|)', 'primary'],
    ['a weak second backup, all others fail', '--a-----------#', '--x------#', '--(Y|)', '---------------(Y|)', 'backup'],
  ])('H4: %s: it is delivered, and decided once', (_, primary, first, second, expected, winner) => {
    const decided: string[] = [];
    marbles(({ cold, expectObservable }) => {
      const onDecided = (branch: string): unknown => decided.push(branch);
      expectObservable(cold(primary).pipe(several([cold(first), cold(second)], { ...weak, onDecided }))).toBe(expected);
    })();
    expect(decided).toEqual([winner]);
  });
});

describe('hedge with several backups, at the same instant', () => {
  const going = (...steps: Parameters<typeof asTheyGo<string>>[0]): Observable<string> => concat(asTheyGo(steps), NEVER);

  test('H4: the one that started first wins, whichever was scheduled first', marbles(({ cold, hot, expectObservable }) => {
    const primary$ = cold('   --a------------------   ');
    const early$ = hot('      --------p-----p-----|   ');
    const late$ = hot('       --------q-----q-----|   ');
    const expected = '        --------------------(p|)';
    const swapped = '         --------------------(q|)';

    expectObservable(primary$.pipe(several([early$, late$]))).toBe(expected);
    expectObservable(primary$.pipe(several([late$, early$]))).toBe(swapped);
  }));

  test('H4: the primary wins against each of them', marbles(({ hot, expectObservable }) => {
    const first$ = hot('      --------p-----p-----|   ');
    const second$ = hot('     --------q-----q-----|   ');
    const primary$ = hot('    --a-----------------|   ');
    const expected = '        --------------------(a|)';
    expectObservable(primary$.pipe(several([first$, second$]))).toBe(expected);
  }));

  test('H4: of weak ones, too, the one that started first', marbles(({ cold, hot, expectObservable }) => {
    const primary$ = cold('   --a--------------------#   ', undefined, 'p');
    const early$ = hot('      --------X-----X-----|      ');
    const late$ = hot('       --------Y-----Y-----|      ');
    const expected = '        -----------------------(X|)';
    const swapped = '         -----------------------(Y|)';

    expectObservable(primary$.pipe(several([early$, late$], weak))).toBe(expected);
    expectObservable(primary$.pipe(several([late$, early$], weak))).toBe(swapped);
  }));

  test.each<[string, [string, number][], [string, number][], number, string]>([
    ['nobody speaks', [['a', 2]], [['x', 2]], 12, '-----------------(z|)'],
    ['the backup speaks', [['a', 2]], [['x', 2], ['y', 4]], 16, '---------------------(z|)'],
    ['the primary speaks, which was silent before', [['a', 2], ['b', 10]], [['x', 2]], 16, '---------------------(z|)'],
    ['both speak', [['a', 2], ['b', 10]], [['x', 2], ['y', 4]], 16, '---------------------(z|)'],
    ['nobody speaks, but one before it', [['a', 2]], [['x', 2], ['y', 3]], 15, '--------------------(z|)'],
  ])('T4: where all would be silent %s', (_, primary, first, startMs, expected) => {
    const starts: number[] = [];
    marbles(({ expectObservable, scheduler }) => {
      const second$ = defer(() => {
        starts.push(scheduler.now());
        return asTheyGo([['z', 5]]);
      });
      expectObservable(going(...primary).pipe(several([going(...first), second$]))).toBe(expected);
    })();
    expect(starts).toEqual([startMs]);
  });

  test('H4: a backup completes where the silence becomes complete: none starts for it', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    // The backup is silent from 12 on; its end at 16 is scheduled after the primary's silence of 16.
    const primary$ = cold('   --a---------b----   ');
    const end$ = concat(timer(5), timer(3)).pipe(ignoreElements());
    const first$ = concat(asTheyGo([['x', 2]]), end$);
    const second$ = cold('    z|                  ');
    const expected = '        ----------------(x|)';

    expectObservable(primary$.pipe(several([first$, second$]))).toBe(expected);
    expectSubscriptions(second$.subscriptions).toBe([]);
  }));
});

describe('hedge with several backups, synchronous ones', () => {
  const failing$ = throwError(() => brokenError);

  test.each<[string, Observable<string>[], string]>([
    ['the second completes', [failing$, of('x', 'y')], '------(y|)'],
    ['the third completes', [failing$, failing$, of('x', 'y')], '------(y|)'],
    ['the first is weak, the second completes', [of('X'), of('y')], '------(y|)'],
    ['all fail', [failing$, failing$, failing$], '---------(a|)'],
    ['all are refused', [EMPTY, EMPTY, EMPTY], '---------(a|)'],
  ])('%s', (_, backups, expected) => {
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('--a------|').pipe(several(backups, weak))).toBe(expected);
    })();
  });

  test('a primary that ends while it is subscribed', marbles(({ expectObservable }) => {
    expectObservable(of('a', 'b').pipe(several([NEVER, NEVER]))).toBe('(b|)');
    expectObservable(failing$.pipe(several([NEVER, NEVER]))).toBe('    #', undefined, brokenError);
    expectObservable(EMPTY.pipe(several([NEVER, NEVER]))).toBe('       |');
  }));
});

describe('hedge with several backups, callbacks that throw', () => {
  test('`again`, for a backup, and a signal that fails: the result fails at once and everything stops', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a----------');
    const first$ = cold('           --x----');
    const thrown = '          ------#      ';
    const failed = '          -----#       ';

    let made = 0;
    const throwing = (attempt$: Observable<string>): Observable<string> => ((made += 1) > 1 ? broken() : quiet(attempt$));
    expectObservable(primary$.pipe(several([first$, NEVER], { again: throwing }))).toBe(thrown, undefined, brokenError);
    expectObservable(primary$.pipe(several([first$, NEVER], { again: () => cold('-----#', undefined, 's') }))).toBe(failed, undefined, 's');
    expectSubscriptions(primary$.subscriptions).toBe(['^-----!', '^----!']);
    expectSubscriptions(first$.subscriptions).toBe([]);
  }));

  test('`backup`: one that failed, so that the next starts', marbles(({ cold, expectObservable }) => {
    let asked = 0;
    const backup = (): Observable<string> => ((asked += 1) === 1 ? broken() : cold('--z|'));
    expectObservable(cold('--a-------').pipe(several([], { backup, maxBackups: 2 }))).toBe('---------(z|)');
  }));
});

test('every subscription to a hedge with several backups is a contest of its own', marbles(({ cold, expectObservable }) => {
  const primary$ = cold('--a----------#             ', undefined, 'p');
  const first$ = cold('        --x--#                ', undefined, 'b');
  const second$ = cold('            -y#               ', undefined, 'c');
  const once = '         -------------#             ';
  const twice = '        --------------------------#';

  const contest$ = primary$.pipe(several([first$, second$]));
  expectObservable(contest$).toBe(once, undefined, 'p+b+c');
  expectObservable(contest$.pipe(retry(1))).toBe(twice, undefined, 'p+b+c');
}));
