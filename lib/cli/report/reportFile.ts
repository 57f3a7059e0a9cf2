import { constants } from 'node:fs';
import { access, open, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf, messageOf } from '../../model/errors.js';
import { WrongUse } from '../wrongUse.js';

/** Tells before the work whether the page can be written there. Throws `WrongUse` if not, or where it would take the place of something else. */
export async function checkReportFile(file: string, database: string | undefined): Promise<void> {
  if (file.trim() === '') throw new WrongUse('--out names no file: write --out report.html');
  if (database !== undefined && [database, `${database}-wal`, `${database}-shm`].includes(resolve(file))) {
    throw new WrongUse(`--out ${file} belongs to the database: name another file`);
  }
  const there = await firstChars(file);
  if (there !== undefined && there !== '' && !/^<!doctype html/i.test(there)) {
    throw new WrongUse(`--out ${file} is there and is no HTML file: name another file, or remove it first`);
  }
  try {
    await access(there === undefined ? dirname(resolve(file)) : file, constants.W_OK);
  } catch (error: unknown) {
    throw unwritable(file, error);
  }
}

/** Writes the page over an older one. Throws `WrongUse` where that is not possible. */
export async function writeReportFile(file: string, page: string): Promise<void> {
  try {
    await writeFile(file, page);
  } catch (error: unknown) {
    throw unwritable(file, error);
  }
}

/** `undefined` if there is no such file. */
async function firstChars(file: string): Promise<string | undefined> {
  try {
    // A pipe would be waited for.
    if (!(await stat(file)).isFile()) throw new WrongUse(`--out ${file} is there and is no regular file: name another one`);
    const opened = await open(file, 'r');
    try {
      const { buffer, bytesRead } = await opened.read(Buffer.alloc(15), 0, 15, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await opened.close();
    }
  } catch (error: unknown) {
    if (codeOf(error) === 'ENOENT') return undefined;
    if (error instanceof WrongUse) throw error;
    throw unwritable(file, error);
  }
}

function unwritable(file: string, error: unknown): WrongUse {
  return new WrongUse(`--out ${file} cannot be written: ${messageOf(error)}; name a file in a folder that is there and yours`, { cause: error });
}
