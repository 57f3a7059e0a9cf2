import type { AttemptFilter } from '../../telemetry/attemptReader.js';

export interface NoAttemptsFacts {
  /** The database. */
  readonly place: string;
  readonly filter: AttemptFilter;
  readonly scope?: string | undefined;
}

/** There is nothing to report on: the table is empty, or nothing passes the filter. */
export class NoAttempts extends Error {
  override readonly name = 'NoAttempts';
  readonly code = 'no_attempts';

  constructor({ place, filter, scope }: NoAttemptsFacts) {
    const asked = [...(scope === undefined ? [] : [`--scope ${scope}`]), ...asWritten(filter)].join(' ');
    super(`${place}: ${asked === '' ? 'the table has no rows; make calls with TELEMETRY__URL set to it first' : `no attempt matches ${asked}; ask for more, or leave it out`}`);
  }
}

function asWritten({ since, until, source, tags = {} }: AttemptFilter): string[] {
  return [
    ...(since === undefined ? [] : [`--since ${since.toISOString()}`]),
    ...(until === undefined ? [] : [`--until ${until.toISOString()}`]),
    ...(source === undefined ? [] : [`--source ${source}`]),
    ...Object.entries(tags).map(([key, value]) => `--tag ${key}=${value}`),
  ];
}
