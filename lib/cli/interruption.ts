import { constants } from 'node:os';
import { monotonicScheduler } from '../clock/monotonicScheduler.js';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

// `npx` and `npm run` pass a Ctrl-C on that the terminal has sent to us already.
const samePressMs = 500;

/** Why a command was stopped from outside; the reason of its abort signal. */
export interface Interruption {
  readonly type: 'interruption';
  readonly exitCode: number;
}

/**
 * Runs a command that can be stopped: Ctrl-C, SIGTERM and SIGHUP abort `signal`, and the command ends in order, with
 * 128 + the signal's number as its exit code. A second one, if it is not the first one's echo, ends the process at once.
 */
export async function interruptible(run: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const controller = new AbortController();
  let abortedMs = Infinity;
  const onSignal = (name: (typeof signals)[number]): void => {
    const exitCode = 128 + constants.signals[name];
    const nowMs = monotonicScheduler.now();
    if (nowMs - abortedMs > samePressMs) process.exit(exitCode);
    abortedMs = Math.min(abortedMs, nowMs);
    controller.abort({ type: 'interruption', exitCode } satisfies Interruption);
  };
  for (const name of signals) process.on(name, onSignal);
  try {
    const exitCode = await run(controller.signal);
    return interruptionOf(controller.signal)?.exitCode ?? exitCode;
  } catch (error: unknown) {
    const interruption = interruptionOf(controller.signal);
    if (interruption === undefined) throw error;
    return interruption.exitCode;
  } finally {
    for (const name of signals) process.off(name, onSignal);
  }
}

/** Settles when the command is to stop. */
export function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function interruptionOf(signal: AbortSignal): Interruption | undefined {
  return isInterruption(signal.reason) ? signal.reason : undefined;
}

function isInterruption(thrown: unknown): thrown is Interruption {
  return typeof thrown === 'object' && thrown !== null && 'type' in thrown && thrown.type === 'interruption';
}
