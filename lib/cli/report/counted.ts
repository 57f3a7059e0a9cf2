/** A count and its noun: `1 call`, `12,041 attempts`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** A number as people read it: `12,041`. */
export function grouped(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}
