import { InvalidArgumentError } from 'commander';

interface Range {
  readonly min: number;
  readonly max: number;
}

/** Reads a whole number of an option, such as a port or a seed. */
export function wholeNumber({ min, max }: Range): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** Reads a number of an option, such as seconds or a share. */
export function decimal({ min, max }: Range): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d*\.?\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a number from ${min} to ${max}.`);
  };
}
