import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { wholeNumber } from '../optionKinds.js';

/** How predictions are made and what a recommendation may cost. */
export interface WhatIfFlags {
  /** A share: 0.1 is 10 %. */
  readonly maxExtra: number;
  readonly seed: number;
  /** Calls that predictions are made from, at most. */
  readonly sample: number;
}

/** Adds the options of a prediction. */
export function addWhatIfOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--max-extra <share>', 'most that the recommended threshold may cost, in more tokens (requests, where tokens are unknown)')
        .argParser(readShare)
        .default(0.1, '10%'),
    )
    .option('--sample <n>', 'calls that are predicted from, at most; fewer are quicker, with wider bands', wholeNumber({ min: 100, max: 1_000_000 }), 10_000)
    .option('--seed <n>', 'the same seed predicts the same', wholeNumber({ min: 0, max: 2 ** 32 - 1 }), 1);
}

/** Reads a share: `10%` or `0.1`. */
export function readShare(text: string): number {
  const [, number = '', sign] = /^(\d*\.?\d+)\s*(%?)$/.exec(text) ?? [];
  const share = Number(number) / (sign === '%' ? 100 : 1);
  // A bare 10 may be meant as 10 %, or as ten times as much.
  if (number !== '' && Number.isFinite(share) && (sign === '%' || share <= 1)) return share;
  throw new InvalidArgumentError('Write a share, such as 10% or 0.1.');
}

const longestS = (2 ** 31 - 1) / 1000;

/** Reads thresholds in s, separated by commas, as growing ms. */
export function readThresholds(text: string): number[] {
  const seconds = text.split(',').map((part) => (/^\s*\d*\.?\d+\s*$/.test(part) ? Number(part) : NaN));
  if (seconds.every((value) => value >= 0.001 && value < longestS)) return [...new Set(seconds.map((value) => Math.round(value * 1000)))].sort((a, b) => a - b);
  throw new InvalidArgumentError('Write seconds above 0, separated by commas, such as 5,10,20.');
}
