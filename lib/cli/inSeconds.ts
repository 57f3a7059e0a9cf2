/** Milliseconds as seconds for people: `1.25 s`. */
export function inSeconds(ms: number, digits = 2): string {
  return `${(ms / 1000).toFixed(digits)} s`;
}
