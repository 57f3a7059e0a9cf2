import { duration } from './words.js';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** What people count in, rather than powers of ten: a minute follows ten seconds. */
const coarse = [1, 10, 100, second, 10 * second, minute, 10 * minute, hour, 10 * hour, 96 * hour];
const fine = [1, 3, 10, 30, 100, 300, second, 3 * second, 10 * second, 30 * second, minute, 3 * minute, 10 * minute, 30 * minute, hour, 3 * hour, 10 * hour, 24 * hour, 96 * hour];
const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, second, 2 * second, 5 * second, 10 * second, 15 * second, 30 * second, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, 24 * hour, 48 * hour, 96 * hour, 240 * hour];

/** The ticks of a log scale that fit into the width. */
export function logTicks([from, to]: readonly [number, number], width: number): number[] {
  const inside = (ticks: readonly number[]): number[] => ticks.filter((tick) => tick >= from && tick <= to);
  const most = Math.max(2, Math.floor(width / 62));
  for (const ticks of [fine, coarse, [1, 100, 10 * second, 10 * minute, 10 * hour]]) {
    if (inside(ticks).length <= most) return inside(ticks);
  }
  return [from, to];
}

/** Even ticks from 0, at most so many. */
export const linearTicks = (to: number, most: number): number[] => ticksBetween([0, to], most);

/** Even ticks, at most so many; none on either end that is not round. */
export function ticksBetween([from, to]: readonly [number, number], most: number): number[] {
  const step = steps.find((candidate) => (to - from) / candidate <= most) ?? (to - from) / most;
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.floor(to / step) - first + 1 }, (_, index) => (first + index) * step);
}

/** `5 %`, without the digit that tells nothing. */
export const tickPercent = (share: number): string => `${Number((share * 100).toFixed(2))}\u00a0%`;

/** `10 s`, `1 min`: one unit, as an axis wants it. */
export function tickTime(ms: number): string {
  return ms === 0 ? '0' : duration(ms);
}
