import { createHash } from 'node:crypto';

/**
 * When each call comes, in ms from the beginning: a Poisson process, so that calls come no later because others are slow.
 * The same for every contestant of a round.
 */
export function arrivalsMs({ seed, calls, callsPerS }) {
  let atMs = 0;
  return Array.from({ length: calls }, (_, nth) => (atMs += (-Math.log(1 - uniform(`${seed}/arrival/${nth}`)) / callsPerS) * 1000));
}

const uniform = (name) => createHash('sha256').update(name).digest().readUInt32LE(0) / 2 ** 32;
