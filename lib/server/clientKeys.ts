import { createHash, timingSafeEqual } from 'node:crypto';

/** The keys that clients may come with; of a key only its hash is kept. */
export interface ClientKeys {
  /** Compares with every key in constant time. */
  has(this: void, key: string): boolean;
  readonly size: number;
}

/** Keys by their SHA-256 hashes, 32 bytes each. */
export function createClientKeys(hashes: readonly Buffer[]): ClientKeys {
  const kept = hashes.map((hash) => Buffer.from(hash));
  return {
    has(key) {
      const given = sha256(key);
      // None is left out once one is found, so that the time tells nothing.
      return kept.reduce((found, hash) => timingSafeEqual(hash, given) || found, false);
    },
    size: kept.length,
  };
}

/** What is kept of a key. */
export function sha256(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
