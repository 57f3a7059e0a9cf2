import { jointRefusal, localGate, once, refuse } from '../gate.js';
import type { AdmissionRefused, Gate, Outcome, Ticket } from '../gate.js';
import { createSlidingWindow } from './slidingWindow.js';
import type { SlidingWindow, Spending, Spent } from './slidingWindow.js';

/** What a source lets a client do; absent: no limit. */
export interface QuotaLimits {
  readonly id: string;
  /** Requests started in any 60 s. */
  readonly rpm?: number | undefined;
  /** Tokens in any 60 s: reserved by estimate, settled to what was used (G2). */
  readonly tpm?: number | undefined;
  /** Requests at once. */
  readonly maxConcurrency?: number | undefined;
}

/** Requests and tokens a minute and requests at once, per source; all three are taken together or none (G1). */
export interface QuotaGate extends Required<Gate> {
  /** Permits in use per source; a source without a limit is counted, never refused. */
  inUse(): Record<string, number>;
  /** Requests and tokens of the last 60 s. */
  spent(sourceId: string): Spent;
}

interface Account extends QuotaLimits {
  inUse: number;
  readonly window: SlidingWindow;
}

/** More tokens than anybody uses at once; sums of such figures are still exact. */
const mostTokens = 1e12;

/** Keeps the quotas in this process. `now` is a monotonic clock in milliseconds. */
export function createQuotaGate({ sources, now }: { readonly sources: readonly QuotaLimits[]; readonly now: () => number }): QuotaGate {
  const accounts = new Map(sources.map((limits) => [limits.id, openAccount(limits)]));

  function accountOf(id: string): Account {
    const account = accounts.get(id) ?? openAccount({ id });
    accounts.set(id, account);
    return account;
  }

  return {
    inUse: () => Object.fromEntries([...accounts].map(([id, { inUse }]) => [id, inUse])),
    spent: (sourceId) => accountOf(sourceId).window.spent(now()),
    ...localGate({
      refusal(ticket) {
        const account = accountOf(ticket.sourceId);
        const nowMs = now();
        const { requests, tokens } = account.window.spent(nowMs);
        const refusals = [tooManyAtOnce(account), tooManyRequests(account, requests, nowMs), tooManyTokens(account, tokens, ticket, nowMs)];
        const said = refusals.filter((refusal) => refusal !== undefined);
        return said.length > 1 ? jointRefusal(said) : said[0];
      },
      take(ticket) {
        const account = accountOf(ticket.sourceId);
        const spending = account.window.spend(tokensToReserve(ticket, account), now());
        account.inUse += 1;
        return {
          progress: () => undefined,
          settle: once((outcome) => {
            account.inUse -= 1;
            settleSpending(account.window, spending, outcome, now());
          }),
        };
      },
    }),
  };
}

function openAccount({ id, rpm, tpm, maxConcurrency }: QuotaLimits): Account {
  return { id, rpm, tpm, maxConcurrency, inUse: 0, window: createSlidingWindow() };
}

function tooManyAtOnce({ id, maxConcurrency = Infinity, inUse }: Account): AdmissionRefused | undefined {
  if (inUse < maxConcurrency) return undefined;
  return refuse(`${id} runs ${inUse} requests already`, { sourceId: id });
}

function tooManyRequests({ id, rpm = Infinity, window }: Account, requests: number, nowMs: number): AdmissionRefused | undefined {
  if (requests < rpm) return undefined;
  const retryAfterMs = window.requestLeavesInMs(nowMs);
  return refuse(`${id} was sent ${requests} requests within 60 s (rpm ${rpm}) and takes the next in ${Math.ceil(retryAfterMs)} ms`, { sourceId: id, retryAfterMs });
}

function tooManyTokens({ id, tpm, window }: Account, tokens: number, ticket: Ticket, nowMs: number): AdmissionRefused | undefined {
  if (tpm === undefined) return undefined;
  const wanted = tokensToReserve(ticket, { tpm });
  const excess = tokens + wanted - tpm;
  if (excess <= 0) return undefined;
  const { asThingsStand, atTheEarliest } = window.tokensLeaveInMs(excess, nowMs);
  return refuse(`${id} has ${tokens} tokens in use within 60 s (tpm ${tpm}) and room for ${wanted} more in ${Math.ceil(asThingsStand)} ms`, {
    sourceId: id,
    retryAfterMs: asThingsStand,
    notBeforeMs: atTheEarliest,
  });
}

/** An estimate over the limit counts as the limit: the request then gets the window to itself, else it never could go. */
function tokensToReserve({ estimatedTokens }: Ticket, { tpm }: Pick<QuotaLimits, 'tpm'>): number {
  return Math.min(tokenCount(estimatedTokens) ?? tpm ?? 0, tpm ?? Infinity);
}

function settleSpending(window: SlidingWindow, spending: Spending, outcome: Outcome, nowMs: number): void {
  if (outcome.type === 'unsent') window.withdraw(spending, nowMs);
  else window.settle(spending, tokenCount(outcome.totalTokens), nowMs);
}

/** Whole tokens; what cannot be a number of tokens is not known. */
function tokenCount(tokens: number | null): number | null {
  return tokens !== null && tokens >= 0 && tokens < Infinity ? Math.min(Math.ceil(tokens), mostTokens) : null;
}
