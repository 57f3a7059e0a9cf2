/** Rows come many a second, and a date costs several times as much as its last three digits. */
const seconds = new Map<number, string>();
const mostSeconds = 1000;

/** The same text as `toISOString`; `RangeError` where a date has none. */
export function isoTime(atMs: number): string {
  const wholeMs = Math.trunc(atMs);
  const second = Math.floor(wholeMs / 1000);
  return `${textOf(second)}${String(wholeMs - second * 1000).padStart(3, '0')}Z`;
}

/** `2026-03-01T12:00:05.` */
function textOf(second: number): string {
  const known = seconds.get(second);
  if (known !== undefined) return known;
  const text = new Date(second * 1000).toISOString().slice(0, -'000Z'.length);
  if (seconds.size >= mostSeconds) seconds.clear();
  seconds.set(second, text);
  return text;
}
