import { describe, expect, test } from '@jest/globals';
import { EMPTY, NEVER, concat, finalize, ignoreElements, map, merge, of, repeat, retry, take, tap, throwError } from 'rxjs';
import type { MonoTypeOperatorFunction, Observable } from 'rxjs';
import { finalizeWith } from '../../lib/operators/finalizeWith.js';
import { hedgeUntilFirst } from '../../lib/operators/hedgeUntilFirst.js';
import type { HedgeUntilFirstOptions } from '../../lib/operators/hedgeUntilFirst.js';
import { silence } from '../../lib/operators/silence.js';
import { marbles } from '../support/marbles.js';
import { diagramOf } from './diagramOf.js';

type Options = HedgeUntilFirstOptions<string, string>;

/** Hedged by a backup that starts with the signal. Dots are no words. Two failures become `p+b`. */
function hedged(signal$: Observable<string>, backup$: Observable<string>, more: Partial<Options> = {}): MonoTypeOperatorFunction<string> {
  return hedgeUntilFirst<string, string>({
    when: () => signal$,
    backup: () => backup$,
    speaks: (value) => value !== '.',
    combine: ({ primary, backup }) => `${String(primary)}+${String(backup)}`,
    ...more,
  });
}

const brokenError = new TypeError('broken callback');
const broken = (): never => { throw brokenError; };

describe('hedgeUntilFirst', () => {
  test('does what the diagram in its docstring shows', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const rows = {
      primary: '    ------------a--b-|',
      when: '       ------s',
      backup: '           ---x-y--z-|',
      result: '     ---------x-y--z-|',
      subscribed: ' ^--------!',
    };
    expect(diagramOf('hedgeUntilFirst')).toEqual(rows);

    const primary$ = cold(rows.primary);
    const backup$ = cold(rows.backup.trim());
    expectObservable(primary$.pipe(hedged(cold(rows.when), backup$))).toBe(rows.result);
    expectSubscriptions(primary$.subscriptions).toBe(rows.subscribed);
    expectSubscriptions(backup$.subscriptions).toBe('------^---------!');
  }));

  test('without a signal it is its primary: never, empty, one, many, failing', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const never$ = cold('       ------');
    const backup$ = cold('      x|    ');
    const alone = hedged(NEVER, backup$);

    expectObservable(never$.pipe(alone)).toBe('                   ------');
    expectObservable(cold('     ---|  ').pipe(alone)).toBe('      ---|  ');
    expectObservable(cold('     --(a|)').pipe(alone)).toBe('      --(a|)');
    expectObservable(cold('     -a-b-|').pipe(alone)).toBe('      -a-b-|');
    expectObservable(cold('     -a-b-#').pipe(alone)).toBe('      -a-b-#');
    expectObservable(cold('     ---#  ').pipe(alone)).toBe('      ---#  ');
    expectObservable(cold('     -a-b-|').pipe(hedged(EMPTY, backup$))).toBe('-a-b-|');
    expectSubscriptions(never$.subscriptions).toBe('                  ^-----');
    expectSubscriptions(backup$.subscriptions).toBe([]);
  }));

  test('H12: the primary speaks first: the backup is unsubscribed, and nothing more is watched', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   ------a---b-|');
    const signal$ = cold('    --s---s---s  ');
    const backup$ = cold('      -----x|    ');
    const expected = '        ------a---b-|';

    expectObservable(primary$.pipe(hedged(signal$, backup$))).toBe(expected);
    expectSubscriptions(primary$.subscriptions).toBe('^-----------!');
    expectSubscriptions(signal$.subscriptions).toBe(' ^-!          ');
    expectSubscriptions(backup$.subscriptions).toBe(' --^---!      ');
  }));

  test('H12: once the primary has spoken no signal asks for a backup', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --a-------b-|');
    const signal$ = cold('    ----s        ');
    const backup$ = cold('        x|       ');
    const expected = '        --a-------b-|';

    expectObservable(primary$.pipe(hedged(signal$, backup$))).toBe(expected);
    expectSubscriptions(signal$.subscriptions).toBe(' ^-!          ');
    expectSubscriptions(backup$.subscriptions).toBe([]);
  }));

  test('what is no word is seen by the signal alone, decides nothing and is not passed on', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   -.------a-|');
    const backup$ = cold('        .-.x.y|');
    const backupSubs = '      ----^-----!';
    const expected = '        -------x-y|';

    const when: Options['when'] = (shared$) => shared$.pipe(silence({ firstMs: 9, betweenMs: 3 }));
    expectObservable(primary$.pipe(hedged(NEVER, backup$, { when }))).toBe(expected);
    expectSubscriptions(primary$.subscriptions).toBe('^------!');
    expectSubscriptions(backup$.subscriptions).toBe(backupSubs);
  }));

  test('the signal brings its value to the backup, and never sees a failure of the primary', () => {
    const seen: string[] = [];
    marbles(({ cold, expectObservable }) => {
      const watching: Options['when'] = (shared$) => merge(cold('--s'), shared$.pipe(tap({ error: () => seen.push('error'), complete: () => seen.push('complete') }), ignoreElements()));
      const backup$ = cold('-x|');
      expectObservable(cold('--.').pipe(hedged(NEVER, EMPTY, { when: watching, backup: (signal) => backup$.pipe(map((word) => signal + word)) }))).toBe('---b|', { b: 'sx' });
      expectObservable(cold('-#').pipe(hedged(NEVER, EMPTY, { when: watching }))).toBe('-#');
    })();
    expect(seen).not.toContain('error');
  });

  test('O4: the primary is subscribed once, whatever looks at it', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('--.-a--|');
    expectObservable(primary$.pipe(hedged(NEVER, NEVER, { when: (shared$) => merge(shared$, shared$).pipe(take(1)), backup: () => EMPTY }))).toBe('----a--|');
    expectSubscriptions(primary$.subscriptions).toBe('^------!');
  }));
});

describe('hedgeUntilFirst, at the same instant', () => {
  test('the word that comes first in it wins, so that who wants an order has to make one', marbles(({ hot, cold, expectObservable }) => {
    const early$ = hot('     ------p-p|');
    const late$ = hot('      ------y-y|');
    const signal$ = cold('   --s       ');
    expectObservable(early$.pipe(hedged(signal$, late$))).toBe('------p-p|');
    expectObservable(late$.pipe(hedged(signal$, early$))).toBe('------p-p|');
  }));

  test('the primary speaks in the instant of the signal: it goes on alone', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('  ---a-|');
    const backup$ = cold('      x| ');
    expectObservable(primary$.pipe(hedged(cold('---s'), backup$))).toBe('---a-|');
    expectSubscriptions(backup$.subscriptions).toBe([]);
  }));

  test('the primary fails in the instant in which the backup speaks: the backup is the result', marbles(({ cold, expectObservable }) => {
    expectObservable(cold('-----#').pipe(hedged(cold('--s'), cold('---x-y|')))).toBe('-----x-y|');
  }));

  test('both fail in one instant: one combined failure', marbles(({ cold, expectObservable }) => {
    expectObservable(cold('-----#', undefined, 'p').pipe(hedged(cold('--s'), cold('---#', undefined, 'b')))).toBe('-----#', undefined, 'p+b');
  }));
});

describe('hedgeUntilFirst, when a branch fails', () => {
  test('H6: the primary fails while the backup runs: its failure is held back, the backup speaks', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   ----#        ', undefined, 'p');
    const signal$ = cold('    --s          ');
    const backup$ = cold('      -----x-y|  ');
    const expected = '        -------x-y|  ';

    expectObservable(primary$.pipe(hedged(signal$, backup$))).toBe(expected);
    expectSubscriptions(primary$.subscriptions).toBe('^---!        ');
    expectSubscriptions(backup$.subscriptions).toBe(' --^-------!  ');
  }));

  test('H6: the backup fails while the primary runs: the primary goes on, and no other is asked for', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --------a-b-|');
    const signal$ = cold('    --s---s      ');
    const backup$ = cold('      -#         ', undefined, 'b');
    const expected = '        --------a-b-|';

    expectObservable(primary$.pipe(hedged(signal$, backup$))).toBe(expected);
    expectSubscriptions(backup$.subscriptions).toBe(' --^!         ');
  }));

  test.each([
    ['the primary first', '---#', '----#', '------#'],
    ['the backup first', '-------#', '--#', '-------#'],
  ])('H7: both fail before a word, %s: one combined failure, once both are known', (_, primary, backup, expected) => {
    let combined = 0;
    marbles(({ cold, expectObservable }) => {
      const combine: Options['combine'] = (failures) => {
        combined += 1;
        return failures;
      };
      expectObservable(cold(primary, undefined, 'p').pipe(hedged(cold('--s'), cold(backup, undefined, 'b'), { combine }))).toBe(expected, undefined, { primary: 'p', backup: 'b' });
    })();
    expect(combined).toBe(1);
  });

  test('H8: the primary fails before any signal: its own failure, at once', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   ---#   ', undefined, 'p');
    const signal$ = cold('    -----s ');
    const backup$ = cold('         x|');
    const expected = '        ---#   ';

    expectObservable(primary$.pipe(hedged(signal$, backup$))).toBe(expected, undefined, 'p');
    expectSubscriptions(signal$.subscriptions).toBe(' ^--!   ');
    expectSubscriptions(backup$.subscriptions).toBe([]);
  }));

  test('H12: whoever has spoken and fails then is the result, whatever the other had come to', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const failed$ = cold('     ----#      ', undefined, 'p');
    const silent$ = cold('     -----------', undefined, 'p');
    const speaking$ = cold('   -----a--#  ', undefined, 'p');
    const signal$ = cold('     --s        ');
    const backup$ = cold('       ----x--# ', undefined, 'b');
    const expected = '         ------x--# ';

    expectObservable(failed$.pipe(hedged(signal$, backup$))).toBe(expected, undefined, 'b');
    expectObservable(silent$.pipe(hedged(signal$, backup$))).toBe(expected, undefined, 'b');
    expectObservable(speaking$.pipe(hedged(signal$, backup$))).toBe(' -----a--#', undefined, 'p');
    expectSubscriptions(silent$.subscriptions).toBe('          ^-----!');
  }));

  test('an undefined failure is a failure', marbles(({ cold, expectObservable }) => {
    // eslint-disable-next-line rxjs-x/throw-error -- anything can be thrown
    const nothing$ = throwError(() => undefined);
    expectObservable(cold('----#', undefined, 'p').pipe(hedged(cold('--s'), nothing$))).toBe('----#', undefined, 'p+undefined');
  }));
});

describe('hedgeUntilFirst, when the backup is refused', () => {
  test('H3: the primary goes on as if nothing had been', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   ------a-b-|');
    const signal$ = cold('    --s--s     ');
    const refused$ = cold('     -|       ');
    expectObservable(primary$.pipe(hedged(signal$, refused$))).toBe('------a-b-|');
    expectSubscriptions(primary$.subscriptions).toBe('^---------!');
    expectSubscriptions(refused$.subscriptions).toBe('--^!');
  }));

  test('H8: the primary fails after it: its own failure, at once', marbles(({ cold, expectObservable }) => {
    expectObservable(cold('------#', undefined, 'p').pipe(hedged(cold('--s'), EMPTY))).toBe('------#', undefined, 'p');
  }));

  test('H3: the primary fails while it is undecided: the failure comes with the refusal, or the backup decides', marbles(({ cold, expectObservable }) => {
    const primary$ = cold('   ----#        ', undefined, 'p');
    const signal$ = cold('    --s          ');
    const refused$ = cold('     ------|    ');
    const granted$ = cold('     ------x-y| ');
    const failed$ = cold('      ------.#   ', undefined, 'b');

    expectObservable(primary$.pipe(hedged(signal$, refused$))).toBe('--------#    ', undefined, 'p');
    expectObservable(primary$.pipe(hedged(signal$, granted$))).toBe('--------x-y| ');
    expectObservable(primary$.pipe(hedged(signal$, failed$))).toBe(' ---------#   ', undefined, 'p+b');
  }));

  test('a primary that ends without a word leaves the result to the backup, if there is one', marbles(({ cold, expectObservable }) => {
    const primary$ = cold('   -.--|     ');
    const signal$ = cold('    --s       ');
    expectObservable(primary$.pipe(hedged(NEVER, NEVER))).toBe('                                   ----|');
    expectObservable(primary$.pipe(hedged(signal$, cold('----x|')))).toBe('                        ------x|');
    expectObservable(primary$.pipe(hedged(signal$, cold('----|')))).toBe('                         ------|');
    expectObservable(primary$.pipe(hedged(signal$, cold('----#', undefined, 'b')))).toBe('         ------#', undefined, 'b');
  }));
});

describe('hedgeUntilFirst, in what order', () => {
  const told = (log: string[], name: string): MonoTypeOperatorFunction<string> => finalizeWith(({ type }) => log.push(`${name} ${type}`));
  const observer = (log: string[]): { next: (value: string) => void; complete: () => void; error: () => void } => ({
    next: (value) => log.push(`next ${value}`),
    complete: () => log.push('complete'),
    error: () => log.push('error'),
  });

  test.each([
    ['the backup', '--------', '--y-|', ['primary unsubscribed', 'next y', 'backup completed', 'complete']],
    ['the primary', '----a--|', '------', ['backup unsubscribed', 'next a', 'primary completed', 'complete']],
  ])('H5, X2: the loser is unsubscribed before the first word is passed on; %s speaks', (_, primary, backup, expected) => {
    const log: string[] = [];
    marbles(({ cold }) => void cold(primary).pipe(told(log, 'primary'), hedged(cold('---s'), cold(backup).pipe(told(log, 'backup')))).subscribe(observer(log)))();
    expect(log).toEqual(expected);
  });

  test('X2: both are torn down before their failure is passed on', () => {
    const log: string[] = [];
    marbles(({ cold }) => void cold('-----#').pipe(told(log, 'primary'), hedged(cold('---s'), cold('----#').pipe(finalize(() => log.push('backup closed'))))).subscribe(observer(log)))();
    expect(log).toEqual(['primary failed', 'backup closed', 'error']);
  });

  test('X1: unsubscribing stops both branches and the signal, before a word and after one', marbles(({ cold, expectObservable, expectSubscriptions, flush, scheduler }) => {
    const primary$ = cold('   ---------a-|');
    const signal$ = cold('    ---s        ');
    const backup$ = cold('       --x--y-| ');
    const before = '          ----!       ';
    const after = '           ------!     ';

    expectObservable(primary$.pipe(hedged(signal$, backup$)), before).toBe('------------');
    expectObservable(primary$.pipe(hedged(signal$, backup$)), after).toBe(' -----x------');
    expectObservable(primary$.pipe(hedged(signal$, backup$)), '-!').toBe('  ------------');
    expectSubscriptions(primary$.subscriptions).toBe(['^---!', '^----!', '^!']);
    expectSubscriptions(backup$.subscriptions).toBe(['---^!', '---^--!']);
    expectSubscriptions(signal$.subscriptions).toBe(['^--!', '^--!', '^!']);
    flush();
    expect(scheduler.actions).toHaveLength(0);
  }));

  test('who has had enough with the first word leaves nothing behind', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('   --------a-|');
    const spoken$ = cold('    ----a-b-|  ');
    const backup$ = cold('       ---x-y| ');

    expectObservable(primary$.pipe(hedged(cold('---s'), backup$), take(1))).toBe('------(x|)');
    expectObservable(spoken$.pipe(hedged(cold('---s'), backup$), take(1))).toBe(' ----(a|)');
    expectSubscriptions(primary$.subscriptions).toBe('^-----!   ');
    expectSubscriptions(spoken$.subscriptions).toBe(' ^---!     ');
    expectSubscriptions(backup$.subscriptions).toBe(['---^--!', '---^!']);
  }));
});

describe('hedgeUntilFirst, callbacks that throw', () => {
  test('when: the result fails at once and nothing is started', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('--a-|');
    expectObservable(primary$.pipe(hedged(NEVER, NEVER, { when: broken }))).toBe('#', undefined, brokenError);
    expectSubscriptions(primary$.subscriptions).toBe([]);
  }));

  test('a signal that fails: the result fails, for nobody watches any more', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const primary$ = cold('-----a-|');
    expectObservable(primary$.pipe(hedged(cold('--#', undefined, 's'), NEVER))).toBe('--#', undefined, 's');
    expectSubscriptions(primary$.subscriptions).toBe('^-!');
  }));

  test('backup: a backup that failed, so the primary goes on', marbles(({ cold, expectObservable }) => {
    expectObservable(cold('------a|').pipe(hedged(cold('--s'), NEVER, { backup: broken }))).toBe('------a|');
    expectObservable(cold('------#', undefined, 'p').pipe(hedged(cold('--s'), NEVER, { backup: broken }))).toBe('------#', undefined, 'p+TypeError: broken callback');
  }));

  test('speaks: the result fails at once and both stop, it is no failure of a branch', marbles(({ cold, expectObservable, expectSubscriptions }) => {
    const speaks = (value: string): boolean => value !== '!' || broken();
    const word = { x: '!' };
    const primary$ = cold('   -----x---|', word);
    const silent$ = cold('    ----------');
    const backup$ = cold('      ----x-|', word);
    expectObservable(primary$.pipe(hedged(cold('--s'), backup$, { speaks }))).toBe('-----#', undefined, brokenError);
    expectObservable(silent$.pipe(hedged(cold('--s'), backup$, { speaks }))).toBe(' ------#', undefined, brokenError);
    expectSubscriptions(primary$.subscriptions).toBe('^----!');
    expectSubscriptions(silent$.subscriptions).toBe(' ^-----!');
    expectSubscriptions(backup$.subscriptions).toBe(['--^--!', '--^---!']);
  }));

  test('combine: the result fails with what it threw', marbles(({ cold, expectObservable }) => {
    expectObservable(cold('---#').pipe(hedged(cold('--s'), cold('---#'), { combine: broken }))).toBe('-----#', undefined, brokenError);
  }));
});

test('synchronous sources: the primary goes before the signal, the signal before what comes later', marbles(({ cold, expectObservable, expectSubscriptions }) => {
  const silent$ = cold('--------');
  expectObservable(of('a', 'b').pipe(hedged(of('s'), of('y')))).toBe('                        (ab|)');
  expectObservable(EMPTY.pipe(hedged(of('s'), of('y')))).toBe('                                |');
  expectObservable(throwError(() => brokenError).pipe(hedged(of('s'), of('y')))).toBe('           #', undefined, brokenError);
  expectObservable(silent$.pipe(hedged(of('s'), of('x', 'y')))).toBe('                            (xy|)');
  expectObservable(cold('--a|').pipe(hedged(of('s'), throwError(() => brokenError)))).toBe('      --a|');
  expectObservable(concat(of('.'), cold('--a|')).pipe(hedged(NEVER, NEVER, { when: (shared$) => shared$ }))).toBe('--a|');
  expectSubscriptions(silent$.subscriptions).toBe('(^!)');
}));

test('every subscription is a contest of its own', marbles(({ cold, expectObservable, expectSubscriptions }) => {
  const primary$ = cold('   --------a|                        ');
  const backup$ = cold('       --x-y|                         ');
  const failing$ = cold('   ----#                             ', undefined, 'p');
  const late = '            ---^                              ';
  const raced$ = primary$.pipe(hedged(cold('---s'), backup$));

  expectObservable(raced$).toBe('                -----x-y|                ');
  expectObservable(raced$, late).toBe('          --------x-y|             ');
  expectObservable(raced$.pipe(repeat(2))).toBe('-----x-y-----x-y|        ');
  // Each try has its own failures: one that failed alone is not combined with one of the try before.
  const backups = [cold('-#', undefined, 'b'), EMPTY];
  expectObservable(failing$.pipe(hedged(cold('--s'), NEVER, { backup: () => backups.shift()! }), retry(1))).toBe('--------#', undefined, 'p');
  expectSubscriptions(primary$.subscriptions).toBe(['^----!', '^----!', '---^----!', '--------^----!']);
}));
