/** A small seeded generator of numbers from 0 to below 1: the same seed gives the same numbers. Not for secrets. */
export function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    const mixed = Math.imul(state ^ (state >>> 15), state | 1);
    const scrambled = mixed ^ (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61));
    return ((scrambled ^ (scrambled >>> 14)) >>> 0) / 2 ** 32;
  };
}
