import type { Outcome } from '../../../lib/governance/gate.js';
import type { QuotaLimits } from '../../../lib/governance/quota/quotaRules.js';

/** One request as a plain log has it. */
export interface Entry {
  readonly atMs: number;
  readonly reserved: number;
  tokens: number;
  running: boolean;
  withdrawn: boolean;
}

/** What a refusal should say; `undefined`: let in. */
export interface Verdict {
  readonly retryAfterMs: number | undefined;
  readonly notBeforeMs: number;
}

const windowMs = 60_000;

/** The quota of one source by the letter: everything that ever happened, searched through for every question. */
export interface BruteForce {
  readonly log: readonly Entry[];
  ask(estimatedTokens: number, nowMs: number): Verdict | undefined;
  enter(estimatedTokens: number, nowMs: number): Entry;
  settle(entry: Entry, outcome: Outcome): void;
  spent(nowMs: number): { requests: number; tokens: number };
  inUse(): number;
}

export function bruteForce({ rpm = Infinity, tpm = Infinity, maxConcurrency = Infinity }: Omit<QuotaLimits, 'id'>): BruteForce {
  const log: Entry[] = [];
  const inWindow = (nowMs: number): Entry[] => log.filter(({ atMs, withdrawn }) => !withdrawn && atMs <= nowMs && nowMs < atMs + windowMs);
  const sum = (entries: readonly Entry[]): number => entries.reduce((total, { tokens }) => total + tokens, 0);
  const inUse = (): number => log.filter(({ running }) => running).length;
  const firstMs = (nowMs: number, fits: (atMs: number) => boolean): number =>
    [nowMs, ...log.map(({ atMs }) => atMs + windowMs)].filter((atMs) => atMs >= nowMs && fits(atMs)).reduce((a, b) => Math.min(a, b), Infinity) - nowMs;

  return {
    log,
    inUse,
    ask(estimatedTokens, nowMs) {
      const wanted = Math.min(estimatedTokens, tpm);
      const full = inUse() >= maxConcurrency;
      const requestMs = firstMs(nowMs, (atMs) => inWindow(atMs).length < rpm);
      const tokenMs = firstMs(nowMs, (atMs) => sum(inWindow(atMs)) + wanted <= tpm);
      const soonestMs = firstMs(nowMs, (atMs) => sum(inWindow(atMs).filter(({ running }) => !running)) + wanted <= tpm);
      if (!full && requestMs === 0 && tokenMs === 0) return undefined;
      const retryAfterMs = Math.max(requestMs, tokenMs);
      return { retryAfterMs: retryAfterMs === 0 ? undefined : retryAfterMs, notBeforeMs: Math.max(requestMs, tokenMs === 0 ? 0 : soonestMs) };
    },
    enter(estimatedTokens, nowMs) {
      const reserved = Math.min(estimatedTokens, tpm);
      const entry: Entry = { atMs: nowMs, reserved, tokens: reserved, running: true, withdrawn: false };
      log.push(entry);
      return entry;
    },
    settle(entry, outcome) {
      if (!entry.running) return;
      entry.running = false;
      if (outcome.type === 'unsent') entry.withdrawn = true;
      else if (outcome.totalTokens !== null) entry.tokens = outcome.totalTokens;
    },
    spent: (nowMs) => ({ requests: inWindow(nowMs).length, tokens: sum(inWindow(nowMs)) }),
  };
}
