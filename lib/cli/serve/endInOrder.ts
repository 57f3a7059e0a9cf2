import { setTimeout as sleep } from 'node:timers/promises';
import type { FrontDoor } from '../../server/frontDoor.js';

export interface EndOptions {
  readonly door: Pick<FrontDoor, 'drain'>;
  /** How long it still takes requests, while `/readyz` says that it is about to stop. */
  readonly noticeS: number;
  readonly drainS: number;
  /** Ends the calls under way and writes what telemetry still holds. */
  readonly closeScopes: () => Promise<void>;
}

/** For the words that tell clients of the end. */
const lastWordsS = 2;

/** Lets answers under way end within `drainS`; calls that have not ended then end with their error, which their clients are told. */
export async function endInOrder({ door, noticeS, drainS, closeScopes }: EndOptions): Promise<void> {
  const waiting = new AbortController();
  const drained = door.drain(drainS + lastWordsS, noticeS).finally(() => waiting.abort());
  await Promise.race([drained, sleep((noticeS + drainS) * 1000, undefined, { signal: waiting.signal }).catch(() => undefined)]);
  await closeScopes();
  await drained;
}
