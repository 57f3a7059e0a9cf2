import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError, messageOf } from '../../model/errors.js';
import type { Recording } from './recording.js';
import { recordingSchema } from './recordingSchema.js';
import { recordingFormat } from './stringifyRecording.js';

/** Of many things that are wrong, the first ones tell enough. */
const mostTold = 5;

/**
 * Reads the recording in a file. Throws `ConfigError`, which names the file and each field that does not fit, and says what to do.
 *
 *     const gateway = testGateway({ sources: replay(readRecording('fixtures/slowStart.json')), settings }, testScheduler);
 */
export function readRecording(file: string): Recording {
  return parseRecording(textOf(file), file);
}

/**
 * The same for the text of a file; `name` is how messages call it.
 *
 *     const sources = replay(parseRecording(stringifyRecording(createRecorder().recording)));
 */
export function parseRecording(text: string, name = 'the recording'): Recording {
  const given = fromJson(text, name);
  checkVersion(given, name);
  const read = recordingSchema.safeParse(given);
  if (!read.success) throw refused(name, read.error.issues.map(({ path, message }) => `${z.core.toDotPath(path) || 'the whole'}: ${message}`));
  const { version, text: withText, sources, requests } = read.data;
  const recording: Recording = { version, text: withText, sources, requests };
  const problems = problemsOf(recording);
  if (problems.length > 0) throw refused(name, problems);
  return recording;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause: unknown) {
    throw new ConfigError([`${file} cannot be read: ${messageOf(cause)}; make it with createRecorder().save(file), or by polygateway chat --record`], { cause });
  }
}

function fromJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause: unknown) {
    throw new ConfigError([`${name} is not JSON: ${messageOf(cause)}; correct it, or record it anew`], { cause });
  }
}

/** Said first, since nothing else need fit in a file of another kind. */
function checkVersion(given: unknown, name: string): void {
  const { format, version } = Object(given) as Record<string, unknown>;
  if (format !== recordingFormat) throw new ConfigError([`${name} is no recording, since it does not say "format": "${recordingFormat}"; name another file, or record it anew`]);
  if (typeof version === 'number' && version > 1) throw new ConfigError([`${name} is of version ${version}, and this polygateway reads version 1: update polygateway, or record it anew`]);
}

function refused(name: string, problems: readonly string[]): ConfigError {
  const more = problems.length > mostTold ? [`and ${problems.length - mostTold} more`] : [];
  return new ConfigError([`${name} cannot be replayed: ${[...problems.slice(0, mostTold), ...more].join('; ')}. Correct it, or record it anew`]);
}

/** What fits in form but not together. */
function problemsOf({ sources, requests }: Recording): string[] {
  const ids = sources.map(({ id }) => id);
  const twins = ids.flatMap((id, at) => (ids.indexOf(id) < at ? [`sources[${at}].id: ${JSON.stringify(id)} is there twice`] : []));
  return [...twins, ...requests.flatMap(({ source, deltas, end }, at) => [
    ...(ids.includes(source) ? [] : [`requests[${at}].source: ${JSON.stringify(source)} is not among the sources`]),
    ...[...deltas, end].flatMap(({ atMs }, nth, all) => {
      const beforeMs = all[nth - 1]?.atMs ?? 0;
      const place = nth === deltas.length ? 'end' : `deltas[${nth}]`;
      return atMs < beforeMs ? [`requests[${at}].${place}.atMs: ${atMs} is earlier than ${beforeMs}, the time of the one before it`] : [];
    }),
  ])];
}
