import type { Holder } from '../holders.js';
import { breakerContract } from './breakerContract.js';
import { pacerContract } from './pacerContract.js';
import { parkingContract } from './parkingContract.js';
import { progressContract } from './progressContract.js';
import { quotaContract } from './quotaContract.js';

/** All that whoever keeps admission state has to keep to; every backend is held to it. */
export function holderContract(holder: Holder): void {
  quotaContract(holder);
  breakerContract(holder);
  pacerContract(holder);
  progressContract(holder);
  parkingContract(holder);
}
