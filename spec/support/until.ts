import { setTimeout as sleep } from 'node:timers/promises';

export interface UntilOptions {
  readonly timeoutMs?: number;
  readonly everyMs?: number;
}

/** Asks until the answer is yes; a failing question counts as a no, and its error as the cause once the time is over. */
export async function until(what: string, ask: () => Promise<boolean>, { timeoutMs = 20_000, everyMs = 25 }: UntilOptions = {}): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  let cause: unknown;
  while (performance.now() < endMs) {
    const yes = await ask().catch((error: unknown) => {
      cause = error;
      return false;
    });
    if (yes) return;
    await sleep(everyMs);
  }
  throw new Error(`Not within ${timeoutMs} ms: ${what}.`, { cause });
}
