import { InvalidArgumentError } from 'commander';

const units = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

const ago = /^(\d{1,6})([mhdw])$/;
const date = /^\d{4}-\d{2}-\d{2}$/;
const dateAndTime = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?$/i;

/** Reads a moment: so long ago (`90m`, `24h`, `7d`, `2w`), a day, or a time in ISO 8601; UTC where no zone is written. */
export function moment(text: string, now: Date): Date {
  const found = longAgo(text, now) ?? written(text);
  if (found !== undefined) return found;
  throw new InvalidArgumentError('Write so long ago (90m, 24h, 7d, 2w), a day (2026-11-01) or a time (2026-11-01T08:30, UTC where no zone is written).');
}

function longAgo(text: string, now: Date): Date | undefined {
  const [, count = '', unit = ''] = ago.exec(text) ?? [];
  return count === '' ? undefined : new Date(now.getTime() - Number(count) * units[unit as keyof typeof units]);
}

function written(text: string): Date | undefined {
  const [, day = text, time = '00:00', zone = 'Z'] = dateAndTime.exec(text) ?? [];
  // JavaScript takes the 30th of February for the 2nd of March.
  if (!date.test(day) || !isDay(day)) return undefined;
  const found = new Date(`${day}T${time}${zone.toUpperCase()}`);
  return Number.isNaN(found.getTime()) ? undefined : found;
}

function isDay(day: string): boolean {
  const found = new Date(`${day}T00:00Z`);
  return !Number.isNaN(found.getTime()) && found.toISOString().startsWith(day);
}
