import { describe } from '@jest/globals';
import { holderContract } from './contracts/holderContract.js';
import { holders } from './holders.js';

describe.each(holders)('the admission state kept in $name', holderContract);
