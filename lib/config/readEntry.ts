import type { EnvEntry } from './envEntries.js';
import type { ProblemLog } from './problemLog.js';
import { readSetting } from './readSetting.js';
import type { Setting } from './settings.js';
import { quotesRemoved } from './textKinds.js';

/** The value of a variable, or `refusedValue` after the log was told why. */
export function readEntry({ key, written, text, unquoted }: EnvEntry, setting: Setting, log: ProblemLog): unknown {
  if (unquoted) log.warn({ rule: 'quotes', key, message: `${key} ${quotesRemoved}` });
  return readSetting(setting.kind.fromText(text), { setting, name: key, log, written });
}
