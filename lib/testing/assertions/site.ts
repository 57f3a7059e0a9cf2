/** Where `below` was called, as an error with this message. */
export function siteOf(message: string, below: (...args: never[]) => unknown): Error {
  const site = new Error(message);
  Error.captureStackTrace(site, below);
  return site;
}

/** An error as if it had been thrown where the expectation was written, so that a runner points there. */
export function thrownAt<E>(site: Error | undefined, error: E): E {
  const frames = /\n\s+at [\s\S]*/.exec(site?.stack ?? '')?.[0];
  if (frames !== undefined && error instanceof Error) error.stack = `${error.name}: ${error.message}${frames}`;
  return error;
}
