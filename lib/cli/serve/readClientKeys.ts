import { readFileSync } from 'node:fs';
import { ConfigError, messageOf } from '../../model/errors.js';
import { maskKey } from '../../model/mask.js';
import { createClientKeys, sha256 } from '../../server/clientKeys.js';
import type { ClientKeys } from '../../server/clientKeys.js';

export const keysVariable = 'POLYGATEWAY_SERVE_KEYS';
const shortest = 16;

export interface ClientKeysOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file?: string | undefined;
}

interface Written {
  readonly text: string;
  readonly where: string;
}

/** The keys of the environment and of a file together; `undefined` if there are none. Throws `ConfigError` for those that cannot be used. */
export function readClientKeys({ env, file }: ClientKeysOptions): ClientKeys | undefined {
  const written = [...inEnvironment(env[keysVariable] ?? ''), ...(file === undefined ? [] : inFile(file))];
  const problems = written.flatMap(problemsOf);
  if (problems.length > 0) throw new ConfigError(problems);
  return written.length === 0 ? undefined : createClientKeys(written.map(({ text }) => hashOf(text)));
}

function inEnvironment(value: string): Written[] {
  const parts = value.split(',').map((part) => part.trim()).filter(Boolean);
  return parts.map((text, place) => ({ text, where: `key ${place + 1} of ${keysVariable}` }));
}

/** An empty file would open the door that it was meant to close. */
function inFile(file: string): Written[] {
  const lines = textOf(file).split('\n').map((line, place) => ({ text: line.trim(), where: `line ${place + 1} of ${file}` }));
  const keys = lines.filter(({ text }) => text !== '' && !text.startsWith('#'));
  if (keys.length === 0) throw new ConfigError([`--keys-file ${file} holds no key: write one a line`]);
  return keys;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (error: unknown) {
    throw new ConfigError([`--keys-file ${file} cannot be read: ${messageOf(error)}`]);
  }
}

function problemsOf({ text, where }: Written): string[] {
  if (text.startsWith('sha256:')) return /^sha256:[\da-f]{64}$/i.test(text) ? [] : [`${where} begins with sha256: but 64 hexadecimal digits do not follow: write the hash of a key, or the key`];
  if (!/^[\x21-\x7e]+$/.test(text)) return [`${where} (${maskKey(text)}) holds blanks or characters that no header can carry: use letters, digits and signs`];
  return text.length < shortest ? [`${where} (${maskKey(text)}) has ${text.length} characters, which can be guessed: use ${shortest} at least, such as \`openssl rand -hex 24\` makes them`] : [];
}

function hashOf(text: string): Buffer {
  return text.startsWith('sha256:') ? Buffer.from(text.slice('sha256:'.length), 'hex') : sha256(text);
}
