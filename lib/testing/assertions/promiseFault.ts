/** What to throw where `returned` is a promise, which would be settled when all is over; `from`: who returned it. */
export function promiseFault(returned: unknown, from: string, remedy: string): Error | undefined {
  if (typeof returned !== 'object' || returned === null || !('then' in returned) || typeof returned.then !== 'function') return undefined;
  // What it ends with is not looked at: nobody may be told of an unhandled rejection beside this error.
  (returned as PromiseLike<unknown>).then(undefined, () => undefined);
  return new Error(`${from} returned a promise, which virtual time cannot cover. ${remedy}`);
}
