/** Choices made from one stream of numbers, so that a seed makes them again. */
export interface Choose {
  /** From 0 to below `end`. */
  below(this: void, end: number): number;
  oneOf<T>(this: void, values: readonly T[]): T;
  /** Bytes, each as one character. */
  bytes(this: void, count: number): string;
}

export function chooseFrom(random: () => number): Choose {
  const below = (end: number): number => Math.floor(random() * end);
  return {
    below,
    oneOf: (values) => values[below(values.length)]!,
    bytes: (count) => Array.from({ length: count }, () => String.fromCharCode(below(256))).join(''),
  };
}
