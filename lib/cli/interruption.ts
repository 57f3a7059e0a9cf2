import { constants } from 'node:os';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Why a command was stopped from outside; the reason of its abort signal. */
export interface Interruption {
  readonly type: 'interruption';
  readonly exitCode: number;
}

/**
 * Runs a command that can be stopped: Ctrl-C, SIGTERM and SIGHUP abort `signal`, and the command ends in order, with
 * 128 + the signal's number as its exit code. A second one ends the process at once.
 */
export async function interruptible(run: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const controller = new AbortController();
  const onSignal = (name: (typeof signals)[number]): void => {
    const exitCode = 128 + constants.signals[name];
    if (controller.signal.aborted) process.exit(exitCode);
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
