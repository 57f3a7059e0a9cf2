import { headerText } from './headerText.js';
import type { Headers } from './headerText.js';

/**
 * How many seconds a provider asks to wait, from `retry-after-ms`, `retry-after` (seconds or a date) or, for a rate
 * limit, the reset of a budget that is spent. Unbounded; a date in the past is 0; what cannot be read is `undefined`.
 * Dates are measured against the response's own `Date`, or `receivedAtMs` (milliseconds since 1970) where it has none.
 */
export function retryAfterS(
  headers: Headers,
  { receivedAtMs, rateLimited }: { readonly receivedAtMs: number; readonly rateLimited: boolean },
): number | undefined {
  const date = headerText(headers, 'date');
  const nowMs = (date === undefined ? undefined : dateMs(date)) ?? receivedAtMs;
  return (
    milliseconds(headerText(headers, 'retry-after-ms') ?? headerText(headers, 'x-ms-retry-after-ms')) ??
    secondsOrDate(headerText(headers, 'retry-after'), nowMs) ??
    (rateLimited ? spentBudgetS(headers, nowMs) : undefined)
  );
}

const decimal = /^\d+(\.\d+)?(e\d{1,2})?$/i;

function milliseconds(value: string | undefined): number | undefined {
  return value !== undefined && decimal.test(value) ? Number(value) / 1000 : undefined;
}

function secondsOrDate(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (decimal.test(value)) return Number(value);
  const atMs = dateMs(value);
  return atMs === undefined ? undefined : untilS(atMs, nowMs);
}

function untilS(atMs: number, nowMs: number): number {
  return Math.max(0, (atMs - nowMs) / 1000);
}

/** `Date.parse` alone would take `5, 10` for a day in May. */
function dateMs(value: string): number | undefined {
  const isHttpDate = /^(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i.test(value);
  if (!isHttpDate && !/^\d{4}-\d\d-\d\dT/.test(value)) return undefined;
  const ms = Date.parse(isHttpDate && !/(GMT|UTC|[+-]\d{4})$/i.test(value) ? `${value} GMT` : value);
  return Number.isNaN(ms) ? undefined : ms;
}

const resetHeader = /^x-ratelimit-reset(-.+)?$/;

/** The latest reset among the budgets that are spent; a budget without a known remainder counts as spent. */
function spentBudgetS(headers: Headers, nowMs: number): number | undefined {
  const waits = Object.keys(headers).flatMap((name) => {
    const budget = resetHeader.exec(name);
    if (budget === null || Number(headerText(headers, `x-ratelimit-remaining${budget[1] ?? ''}`) ?? 0) > 0) return [];
    const waitS = resetS(headerText(headers, name) ?? '', nowMs);
    return waitS === undefined ? [] : [waitS];
  });
  return waits.length === 0 ? undefined : Math.max(...waits);
}

const unitS: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };
const yearS = 31_536_000;

/** Written as a duration (`1m12.5s`), as seconds from now, as seconds or milliseconds since 1970, or as a date. */
function resetS(value: string, nowMs: number): number | undefined {
  if (/^(\d+(\.\d+)?(ms|[smhd]))+$/.test(value)) {
    const parts = [...value.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)];
    return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (unitS[unit ?? ''] ?? 0), 0);
  }
  if (!decimal.test(value)) return secondsOrDate(value, nowMs);
  const number = Number(value);
  if (number < yearS) return number;
  return untilS(number < yearS * 1000 ? number * 1000 : number, nowMs);
}
