import type { Finding } from '../config/settings.js';
import type { Paint } from './paint.js';

/** A finding in one line; its message names the key and the rule. */
export function findingLine({ level, message }: Finding, paint: Paint): string {
  return `${paint('yellow', level)} ${message}`;
}
