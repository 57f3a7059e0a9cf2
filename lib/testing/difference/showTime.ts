/** `5 ms`, `20.003 s`; a moment that never came is `never`. */
export function showTime(ms: number): string {
  if (!Number.isFinite(ms)) return 'never';
  return Math.abs(ms) < 1000 ? `${plain(ms)} ms` : `${plain(ms / 1000)} s`;
}

/** A wait as marble diagrams write it: dashes where it is short, else ` 20s ` or ` 345ms `, exactly as long. */
export function showWait(ms: number): string {
  if (isShort(ms)) return '-'.repeat(ms);
  const wholeS = Math.floor(ms / 1000);
  const restMs = plain(ms - wholeS * 1000);
  const seconds = wholeS === 0 ? ' ' : ` ${wholeS}s `;
  return isShort(restMs) ? `${seconds}${'-'.repeat(restMs)}` : `${seconds}${restMs}ms `;
}

function isShort(ms: number): boolean {
  return Number.isInteger(ms) && ms <= 16;
}

/** Without what binary fractions add. */
function plain(figure: number): number {
  return Number(figure.toFixed(6));
}
