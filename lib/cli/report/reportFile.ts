import { constants } from 'node:fs';
import { access, open, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf, messageOf } from '../../model/errors.js';
import { WrongUse } from '../wrongUse.js';

/** Tells before the work whether the page can be written there. Throws `WrongUse` if not, or if a file of another kind is there. */
export async function checkReportFile(file: string): Promise<void> {
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
    const opened = await open(file, 'r');
    try {
      const { buffer, bytesRead } = await opened.read(Buffer.alloc(15), 0, 15, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await opened.close();
    }
  } catch (error: unknown) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw unwritable(file, error);
  }
}

function unwritable(file: string, error: unknown): WrongUse {
  return new WrongUse(`--out ${file} cannot be written: ${messageOf(error)}; name a file in a folder that is there and yours`, { cause: error });
}
