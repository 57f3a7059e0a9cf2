import { codeOf, messageOf } from '../model/errors.js';
import { maskSecrets } from '../model/mask.js';

/** A failure of the database, told without passwords and without values of rows. */
export class PostgresError extends Error {
  override readonly name = 'PostgresError';
  /** Of the server (SQLSTATE, five characters) or of the connection; `''` if it has none. */
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

// The server's own words about a value quote it, so these stand for them.
const refusals: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^22/, 'a value does not fit its column'],
  [/^23/, 'a constraint of the table refuses it'],
  [/^44000$/, 'a check of the view refuses it'],
  [/^54000$/, 'a value is too long for an index'],
  [/^P0001$/, 'a trigger of the table refuses it'],
];

const remedies: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'start the server there, or correct the address',
  ENOTFOUND: 'correct the host of the address',
  ETIMEDOUT: 'look whether the host can be reached',
  '28000': 'correct the user of the address, or let the server accept it',
  '28P01': 'correct user and password of the address',
  '3D000': 'create the database, or correct its name',
  '42501': 'let the owner of the table run `polygateway telemetry migrate`, or grant this user the right',
  '53100': 'make room on the disk of the server',
  '53300': 'allow the server more connections',
};

/** Why a row can't be stored, whatever becomes of the others; `undefined` if the failure concerns them all. */
export function whyRefused(error: unknown): string | undefined {
  const code = codeOf(error) ?? '';
  const why = refusals.find(([pattern]) => pattern.test(code))?.[1];
  return why === undefined ? undefined : [why, `(${[...placesOf(error), code].join(', ')})`].join(' ');
}

/** The failure as it may be shown; `where` names the database. */
export function postgresFailure(error: unknown, where: string, secrets: readonly string[]): PostgresError {
  const code = codeOf(error) ?? '';
  const remedy = remedies[code];
  const what = whyRefused(error) ?? `${wordsOf(error)}${code && ` (${code})`}`;
  return new PostgresError(`${where}: ${maskSecrets(what, secrets)}${remedy === undefined ? '' : `; ${remedy}`}`, code);
}

/** Whether the server has said so itself, so that the connection may go on. */
export function isOfServer(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'severity' in error;
}

/** Names of what is in the way, which the server tells apart from its message. */
function placesOf(error: unknown): string[] {
  if (typeof error !== 'object' || error === null) return [];
  const { column, constraint } = error as { column?: unknown; constraint?: unknown };
  return [column, constraint].filter((name) => typeof name === 'string');
}

/** A host with several addresses fails with one error for each, and no words of its own. */
function wordsOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'errors' in error && Array.isArray(error.errors)) return error.errors.map(messageOf).join(', ');
  return messageOf(error);
}
