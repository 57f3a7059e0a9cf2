import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf, messageOf } from '../../model/errors.js';
import type { Recorder } from '../../testing/recording/recorder.js';
import { recordingFormat } from '../../testing/recording/stringifyRecording.js';
import { WrongUse } from '../wrongUse.js';

/** Tells before the call whether its recording can be written there. Throws `WrongUse` if not, or where it would take the place of something else. */
export function checkRecordFile(file: string): void {
  if (file.trim() === '') throw new WrongUse('--record names no file: write --record call.json');
  try {
    const there = firstChars(file);
    if (there !== undefined && there !== '' && !there.includes(recordingFormat)) {
      throw new WrongUse(`--record ${file} is there and is no recording: name another file, or remove it first`);
    }
    accessSync(there === undefined ? dirname(resolve(file)) : file, constants.W_OK);
  } catch (error: unknown) {
    throw error instanceof WrongUse ? error : unwritable(file, error);
  }
}

/** Writes the recording over an older one, unless nothing is in it; gives the line that tells so. Throws `WrongUse` where that is not possible. */
export function writeRecordFile(file: string, recorder: Recorder): string {
  const { requests, text } = recorder.recording;
  if (requests.length === 0) return `recorded nothing in ${file}, since no source was asked`;
  try {
    recorder.save(file);
  } catch (error: unknown) {
    throw unwritable(file, error);
  }
  return `recorded ${requests.length === 1 ? '1 request' : `${requests.length} requests`}${text ? '' : ', without their text,'} in ${file}`;
}

/** `undefined` if there is no such file. */
function firstChars(file: string): string | undefined {
  const there = statSync(file, { throwIfNoEntry: false });
  if (there === undefined) return undefined;
  // A pipe would be waited for.
  if (!there.isFile()) throw new WrongUse(`--record ${file} is there and is no regular file: name another one`);
  const opened = openSync(file, 'r');
  try {
    const first = Buffer.alloc(64);
    return first.toString('utf8', 0, readSync(opened, first));
  } finally {
    closeSync(opened);
  }
}

function unwritable(file: string, error: unknown): WrongUse {
  const why = codeOf(error) === 'ENOENT' ? 'its folder is not there' : messageOf(error);
  return new WrongUse(`--record ${file} cannot be written: ${why}; name a file in a folder that is there and yours`, { cause: error });
}
