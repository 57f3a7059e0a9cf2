import { median, ratioToBase } from '../support/statistics.mjs';

export const floor = 'floor';

/** Every number of a contestant, one from each round that did not fail. */
export const numbersOf = (measurements, contestant, quantity) =>
  measurements.filter((measurement) => measurement.contestant === contestant).map((measurement) => measurement[quantity]).filter(Number.isFinite);

/** `{ floor: 1, … }`: medians of the ratios within each round. */
export const ratiosOf = (measurements, quantity) => ratioToBase(byRound(measurements, quantity), floor);

/** The median over rounds of what a contestant has more than the floor in the same round. */
export function excessOf(measurements, contestant, quantity) {
  return median(byRound(measurements, quantity).map((round) => round[contestant] - round[floor]));
}

function byRound(measurements, quantity) {
  const rounds = [...new Set(measurements.map(({ round }) => round))];
  return rounds.map((round) => Object.fromEntries(measurements.filter((measurement) => measurement.round === round).map((measurement) => [measurement.contestant, measurement[quantity] ?? NaN])));
}
