import type { ProblemLog } from './problemLog.js';
import type { Setting } from './settings.js';

/** Stands in settings for a value that was refused and reported before. */
export const refusedValue = Symbol('refused value');

export interface SettingContext {
  readonly setting: Setting;
  /** How the setting is called in a message. */
  readonly name: string;
  readonly log: ProblemLog;
  /** What was written, where it is not the value itself. */
  readonly written?: unknown;
}

/** The value as it is used, or `refusedValue` after the log was told why. */
export function readSetting(value: unknown, { setting, name, log, written = value }: SettingContext): unknown {
  if (value === refusedValue) return refusedValue;
  const reading = setting.kind.read(value);
  if ('problem' in reading) {
    log.refuse(`${name} ${setting.kind.secret ? '' : `is ${log.show(written)}, which `}${reading.problem}`);
    return refusedValue;
  }
  if (reading.notice !== undefined) log.warn({ rule: 'quotes', key: name, message: `${name} ${reading.notice}` });
  return reading.value;
}
