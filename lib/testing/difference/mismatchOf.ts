import { differencesOf } from './differencesOf.js';
import { isTold } from './kindOf.js';
import { messageOfStreams } from './messageOfStreams.js';
import { messageOfSubscriptions } from './messageOfSubscriptions.js';
import type { SubscriptionTimes } from './messageOfSubscriptions.js';
import { showDifference } from './showDifference.js';
import type { Writing } from './symbolsOf.js';
import type { Told } from './told.js';

/** What a `TestScheduler` would be told of two lists of notifications, or of subscriptions; `undefined`: they are the same. */
export function mismatchOf(actual: unknown, expected: unknown, writing?: Writing): string | undefined {
  if (areAll(isTimes, actual, expected)) return messageOfSubscriptions(actual as SubscriptionTimes[], expected as SubscriptionTimes[]);
  if (areAll(isTold, actual, expected)) return messageOfStreams(actual as Told[], expected as Told[], writing);
  const differences = differencesOf(actual, expected);
  return differences.length === 0 ? undefined : `The values differ:\n${differences.slice(0, 10).map((difference) => `  ${showDifference(difference)}`).join('\n')}`;
}

function areAll(isOne: (item: unknown) => boolean, ...lists: unknown[]): boolean {
  const items = lists.every(Array.isArray) ? (lists as unknown[][]).flat() : [];
  return items.length > 0 && items.every(isOne);
}

function isTimes(item: unknown): boolean {
  return typeof item === 'object' && item !== null && 'subscribedFrame' in item;
}
