/** What a check found; `message` is for when it was not to be so: of a failed check what differs, of a passed one that it passed. */
export interface Verdict {
  readonly pass: boolean;
  message(this: void): string;
}

/** A gateway is not as a check expects it; the message says what differs. */
export class GatewayAssertionError extends Error {
  override readonly name = 'GatewayAssertionError';
  readonly code = 'gateway_assertion';
}

/** `message`: what differs; `undefined`: nothing. `passed` completes "were expected not to be so, but …". */
export function verdictOf(message: string | undefined, passed: string): Verdict {
  return { pass: message === undefined, message: () => message ?? passed };
}

/** Throws `GatewayAssertionError` unless the check passed. */
export function assertVerdict({ pass, message }: Verdict): void {
  if (!pass) throw new GatewayAssertionError(message());
}
