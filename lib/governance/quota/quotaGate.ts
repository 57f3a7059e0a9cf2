import { jointRefusal, localGate, once } from '../gate.js';
import type { AdmissionRefused, Gate, Outcome, Ticket } from '../gate.js';
import { atOnceRefused, requestsRefused, tokenCount, tokensRefused, tokensToReserve } from './quotaRules.js';
import type { QuotaLimits } from './quotaRules.js';
import { createSlidingWindow } from './slidingWindow.js';
import type { SlidingWindow, Spending, Spent } from './slidingWindow.js';

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
        return said.length > 0 ? jointRefusal(said) : undefined;
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
  return atOnceRefused(id, { inUse });
}

function tooManyRequests({ id, rpm = Infinity, window }: Account, requests: number, nowMs: number): AdmissionRefused | undefined {
  if (requests < rpm) return undefined;
  return requestsRefused(id, { rpm, requests, leavesInMs: window.requestLeavesInMs(nowMs) });
}

function tooManyTokens({ id, tpm, window }: Account, tokens: number, ticket: Ticket, nowMs: number): AdmissionRefused | undefined {
  if (tpm === undefined) return undefined;
  const wanted = tokensToReserve(ticket, { tpm });
  const excess = tokens + wanted - tpm;
  if (excess <= 0) return undefined;
  return tokensRefused(id, { tpm, tokens, wanted, ...window.tokensLeaveInMs(excess, nowMs) });
}

function settleSpending(window: SlidingWindow, spending: Spending, outcome: Outcome, nowMs: number): void {
  if (outcome.type === 'unsent') window.withdraw(spending, nowMs);
  else window.settle(spending, tokenCount(outcome.totalTokens), nowMs);
}
