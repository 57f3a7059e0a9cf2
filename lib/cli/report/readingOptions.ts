import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import type { AttemptFilter } from '../../lab/report/reportFigures.js';
import { WrongUse } from '../wrongUse.js';
import { moment } from './moment.js';

/** What `report` and `whatif` read. */
export interface ReadingFlags {
  readonly db?: string;
  /** Default: all are read, and without `--db` the database is that of `LLM`. */
  readonly scope?: string;
  readonly envFile?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly source?: string;
  readonly tag?: Readonly<Record<string, string>>;
}

/** Adds the options that say which attempts are read. */
export function addReadingOptions(command: Command): Command {
  // The rows have dates of the wall clock.
  const when = (text: string): Date => moment(text, new Date());
  return command
    .option('--db <where>', 'file of the telemetry, or sqlite: and a file, or a postgres:// URL (default: TELEMETRY__URL of the scope)')
    .option('--scope <name>', 'attempts of this scope, the first part of its keys (default: all; without --db those in the database of LLM)')
    .option('--env-file <file>', 'reads settings from a file too; what is set in the environment wins (default: none)')
    .option('--since <when>', 'attempts started then or later: 90m, 24h, 7d, 2026-11-01, 2026-11-01T08:30 (default: the first)', when)
    .option('--until <when>', 'attempts started before that (default: the last)', when)
    .option('--tag <key=value>', 'attempts with this tag; may be written several times (default: any)', addTag);
}

/** The filter that the flags say. Throws `WrongUse` where nothing can pass. */
export function filterOf({ since, until, source, tag }: ReadingFlags): AttemptFilter {
  if (since !== undefined && until !== undefined && since >= until) {
    throw new WrongUse(`--since ${since.toISOString()} is not before --until ${until.toISOString()}: nothing lies between them`);
  }
  return {
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(source === undefined ? {} : { source }),
    ...(tag === undefined ? {} : { tags: tag }),
  };
}

function addTag(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [, key = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === '') throw new InvalidArgumentError('Write the name of a tag, = and its value, such as team=search.');
  const earlier = Object.hasOwn(before, key) ? before[key] : undefined;
  if (earlier !== undefined && earlier !== value) throw new InvalidArgumentError(`No attempt has two values of ${key}: it was asked for ${earlier} before.`);
  return Object.fromEntries([...Object.entries(before), [key, value]]);
}
