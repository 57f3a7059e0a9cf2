const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** A time for people, at most two units: `850 ms`, `12.3 s`, `105 s`, `3 min 5 s`, `4 h 12 min`, `3 d 4 h`. */
export function duration(ms: number): string {
  const exactMs = Math.round(ms);
  if (exactMs === 0) return '0 s';
  if (exactMs < secondMs) return `${exactMs} ms`;
  const tenths = roundTo(ms, secondMs / 10);
  if (tenths < minuteMs) return `${tenths / secondMs} s`;
  const seconds = roundTo(ms, secondMs);
  // Up to here times are compared with thresholds, which are in seconds.
  if (seconds < 2 * minuteMs) return `${seconds / secondMs} s`;
  if (seconds < hourMs) return twoUnits(seconds, [minuteMs, 'min'], [secondMs, 's']);
  const minutes = roundTo(ms, minuteMs);
  if (minutes < 2 * dayMs) return twoUnits(minutes, [hourMs, 'h'], [minuteMs, 'min']);
  return twoUnits(roundTo(ms, hourMs), [dayMs, 'd'], [hourMs, 'h']);
}

type Unit = readonly [lengthMs: number, name: string];

function twoUnits(ms: number, [greatMs, great]: Unit, [smallMs, small]: Unit): string {
  const rest = (ms % greatMs) / smallMs;
  return `${Math.floor(ms / greatMs).toLocaleString('en-US')} ${great}${rest === 0 ? '' : ` ${rest} ${small}`}`;
}

function roundTo(ms: number, stepMs: number): number {
  return Math.round(ms / stepMs) * stepMs;
}
