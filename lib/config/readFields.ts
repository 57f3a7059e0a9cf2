import { nearest } from './nearest.js';
import type { ProblemLog } from './problemLog.js';
import { readSetting, refusedValue } from './readSetting.js';
import type { Setting, SettingsTable } from './settings.js';

export interface FieldsContext {
  readonly table: SettingsTable;
  /** Fields that are known, but not in the table. */
  readonly others: readonly string[];
  /** The object's place in the settings, with its dot; empty at the top. */
  readonly path: string;
  /** What stands before the env keys of the table. */
  readonly envPrefix: string;
  readonly log: ProblemLog;
}

/** The fields of the table, checked and with defaults; one that was refused is `NaN`, so that no later check trips over it. */
export function readFields(raw: Record<string, unknown>, context: FieldsContext): Record<string, unknown> {
  refuseUnknown(raw, context);
  const fields = Object.entries(context.table).map(([field, setting]) => [field, readField(raw, field, setting, context)] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

function readField(raw: Record<string, unknown>, field: string, setting: Setting, { path, envPrefix, log }: FieldsContext): unknown {
  const name = `${envPrefix}${setting.key} (${path}${field})`;
  if (raw[field] === undefined) {
    if (setting.required) log.refuse(`${name} is missing: ${setting.what}`);
    return setting.fallback;
  }
  const value = readSetting(raw[field], { setting, name, log });
  return value === refusedValue ? NaN : value;
}

function refuseUnknown(raw: Record<string, unknown>, { table, others, path, log }: FieldsContext): void {
  const known = [...Object.keys(table), ...others];
  for (const field of Object.keys(raw)) {
    if (!known.includes(field)) log.refuse(`${path}${field} is not a setting: did you mean ${path}${nearest(field, known) ?? ''}?`);
  }
}
