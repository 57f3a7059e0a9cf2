import { pairUp } from './pairUp.js';
import type { Pair } from './pairUp.js';
import { isLike } from './asymmetric.js';
import { kindOf } from './kindOf.js';
import { differencesOfTold, isDelta, isSameTold } from './told.js';
import type { Told } from './told.js';

/** What was expected at a time beside what came. */
export interface Moment extends Pair<Told, Told> {
  readonly frame: number;
  /** When the expected came instead. */
  readonly cameAt?: number;
  /** What came then, where it is the same thing with other fields. */
  readonly cameAs?: Told;
  /** When the one that came was expected. */
  readonly expectedAt?: number;
}

/** Comparing each that is missing with each that is over would take too long above this. */
const mostComparisons = 100_000;

/** Two streams side by side, time by time. */
export function momentsOf(actual: readonly Told[], expected: readonly Told[]): readonly Moment[] {
  const frames = [...new Set([...expected, ...actual].map(({ frame }) => frame))].sort((one, other) => one - other);
  const [wanted, came] = [byFrame(expected), byFrame(actual)];
  return withMoves(frames.flatMap((frame) => pairUp(wanted.get(frame) ?? [], came.get(frame) ?? [], isSameTold).map((pair) => ({ ...pair, frame }))));
}

function byFrame(all: readonly Told[]): ReadonlyMap<number, readonly Told[]> {
  const found = new Map<number, Told[]>();
  for (const told of all) {
    const there = found.get(told.frame);
    if (there === undefined) found.set(told.frame, [told]);
    else there.push(told);
  }
  return found;
}

/** Finds for each that is missing the nearest one that came at another time: an equal one, else one of which only fields differ. */
function withMoves(moments: readonly Moment[]): readonly Moment[] {
  const missing = moments.filter(({ same, expected }) => !same && expected !== undefined);
  const over = new Set(moments.filter(({ same, actual }) => !same && actual !== undefined));
  if (missing.length * over.size > mostComparisons) return moments;
  const moved = new Map<Moment, Partial<Moment>>();
  const find = (gap: Moment, isIt: (actual: Told, expected: Told) => boolean): Moment | undefined => {
    const candidates = [...over].filter(({ frame, actual }) => frame !== gap.frame && isIt(actual as Told, gap.expected as Told));
    return candidates.sort((one, other) => Math.abs(one.frame - gap.frame) - Math.abs(other.frame - gap.frame))[0];
  };
  const move = (gap: Moment, found: Moment | undefined, isSame: boolean): void => {
    if (found?.actual === undefined) return;
    over.delete(found);
    moved.set(gap, { ...moved.get(gap), cameAt: found.frame, ...(isSame ? {} : { cameAs: found.actual }) });
    moved.set(found, { ...moved.get(found), expectedAt: gap.frame });
  };
  for (const gap of missing) move(gap, find(gap, isSameTold), true);
  for (const gap of missing.filter((one) => !moved.has(one) && one.actual === undefined)) move(gap, find(gap, isNearly), false);
  return moments.map((moment) => ({ ...moment, ...moved.get(moment) }));
}

/** Has all that was asked for, with other values; of a delta that would be another one. */
function isNearly(actual: Told, expected: Told): boolean {
  const { kind, value, error } = expected.notification;
  const wanted = kind === 'N' ? value : error;
  if (kind === 'C' || kind !== actual.notification.kind || isDelta(wanted) || !(isLike(wanted) || ['object', 'error'].includes(kindOf(wanted)))) return false;
  return differencesOfTold(actual, expected).every((difference) => difference.path !== '' && difference.path !== 'type' && difference.actual !== undefined);
}
