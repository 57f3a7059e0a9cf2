import { drawDiagram } from './drawDiagram.js';
import type { DiagramRow, Mark } from './drawDiagram.js';
import { pairUp } from './pairUp.js';
import type { Pair } from './pairUp.js';
import { showTime } from './showTime.js';

/** When something was subscribed and unsubscribed, as RxJS keeps it; `Infinity`: not yet. */
export interface SubscriptionTimes {
  readonly subscribedFrame: number;
  readonly unsubscribedFrame: number;
}

export interface Naming {
  /** What a subscription is called, and whose it is: `socket`, ` of "slow"`. */
  readonly one: string;
  readonly whose: string;
  readonly opened: string;
  readonly closed: string;
}

type Beside = Pair<SubscriptionTimes, SubscriptionTimes> & { readonly nth: number };

const subscriptions: Naming = { one: 'subscription', whose: '', opened: 'subscribed', closed: 'unsubscribed' };

const mostDrawn = 8;

/** What differs between two lists of subscriptions, and when; `undefined`: nothing. */
export function messageOfSubscriptions(actual: readonly SubscriptionTimes[], expected: readonly SubscriptionTimes[], naming: Naming = subscriptions): string | undefined {
  const pairs = pairUp(expected, actual, isSame).map((pair, at) => ({ ...pair, nth: at + 1 }));
  const differing = pairs.filter(({ same }) => !same);
  const [first] = differing;
  if (first === undefined) return undefined;
  const from = Math.max(0, Math.min(first.nth - 2, pairs.length - mostDrawn));
  const drawn = pairs.slice(from, from + mostDrawn);
  const more = differing.filter((pair) => !drawn.includes(pair)).length;
  const { lines } = drawDiagram(drawn.flatMap((pair) => rowsOf(pair, pairs.length > 1)), new Set(drawn.flatMap(framesOf)));
  return [
    sentenceOf(first, { count: pairs.length, expected: expected.length, actual: actual.length }, naming),
    '',
    ...lines,
    ...(more === 0 ? [] : [`… and ${more} more that ${more === 1 ? 'differs' : 'differ'}`]),
  ].join('\n');
}

/** A subscription that was never made: `''` in a diagram. */
export function isSubscription({ subscribedFrame }: SubscriptionTimes): boolean {
  return subscribedFrame !== Infinity;
}

function isSame(one: SubscriptionTimes, other: SubscriptionTimes): boolean {
  return one.subscribedFrame === other.subscribedFrame && one.unsubscribedFrame === other.unsubscribedFrame;
}

function sentenceOf({ nth, expected, actual }: Beside, counts: { count: number; expected: number; actual: number }, { one, whose, opened, closed }: Naming): string {
  const name = counts.count === 1 ? `The ${one}${whose}` : `${one[0]?.toUpperCase() ?? ''}${one.slice(1)} ${nth} of ${counts.count}${whose}`;
  const inAll = `${counts.expected === 0 ? 'none was' : `${counts.expected} ${counts.expected === 1 ? 'was' : 'were'}`} expected, ${counts.actual === 0 ? 'there is none' : `there ${counts.actual === 1 ? 'is' : 'are'} ${counts.actual}`}`;
  if (actual === undefined) return `${name} was expected to be ${opened} at ${showTime(expected?.subscribedFrame ?? 0)}, but never was (${inAll}).`;
  if (expected === undefined) return `${name}, ${opened} at ${showTime(actual.subscribedFrame)}, was not expected (${inAll}).`;
  if (actual.subscribedFrame !== expected.subscribedFrame) return `${name} was ${opened} at ${showTime(actual.subscribedFrame)}, ${beside(actual.subscribedFrame, expected.subscribedFrame)}.`;
  if (actual.unsubscribedFrame === Infinity) return `${name} was left open; it was expected to be ${closed} at ${showTime(expected.unsubscribedFrame)}.`;
  if (expected.unsubscribedFrame === Infinity) return `${name} was ${closed} at ${showTime(actual.unsubscribedFrame)}; it was expected to be left open.`;
  return `${name} was ${closed} at ${showTime(actual.unsubscribedFrame)}, ${beside(actual.unsubscribedFrame, expected.unsubscribedFrame)}.`;
}

function beside(actual: number, expected: number): string {
  return `${showTime(Math.abs(actual - expected))} ${actual > expected ? 'later' : 'earlier'} than expected (${showTime(expected)})`;
}

function rowsOf({ nth, expected, actual, same }: Beside, numbered: boolean): readonly DiagramRow[] {
  const label = (text: string): string => (numbered ? `${nth} ${text}` : text);
  if (same) return [{ label: label('as expected'), marks: marksOf(actual) }];
  return [
    { label: label('expected'), marks: marksOf(expected), isMissing: expected === undefined },
    { label: label('actual'), marks: marksOf(actual), isMissing: actual === undefined },
  ];
}

function marksOf(times: SubscriptionTimes | undefined): readonly Mark[] {
  if (times === undefined) return [];
  const { subscribedFrame, unsubscribedFrame } = times;
  return [{ frame: subscribedFrame, symbol: '^' }, ...(unsubscribedFrame === Infinity ? [] : [{ frame: unsubscribedFrame, symbol: '!' }])];
}

function framesOf({ expected, actual, same }: Beside): readonly number[] {
  if (same) return [];
  const opened = [expected?.subscribedFrame, actual?.subscribedFrame];
  const closed = [expected?.unsubscribedFrame, actual?.unsubscribedFrame];
  return [opened, closed].filter(([one, other]) => one !== other).flat().filter((frame) => frame !== undefined && frame !== Infinity) as number[];
}
