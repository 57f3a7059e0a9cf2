/** A share for people: `41 %`, `4.1 %`, `<0.1 %`. */
export function percent(share: number): string {
  const hundredths = share * 100;
  const size = Math.abs(hundredths);
  if (size === 0) return '0 %';
  if (size < 0.1) return '<0.1 %';
  return `${size < 9.95 ? Number(hundredths.toFixed(1)) : Math.round(hundredths)} %`;
}

/** A part of a whole; 0 of nothing is 0. */
export function shareOf(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}
