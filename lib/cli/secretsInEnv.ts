import { isRecord } from '../config/kind.js';
import { secretsOf } from '../config/secretsIn.js';
import { sourceSettings } from '../config/settings.js';
import { withoutQuotes } from '../config/textKinds.js';

/** The values of keys that hold secrets, the values of headers among them, to be kept out of whatever is printed. */
export function secretsInEnv(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (value === '') return [];
    if (/__API_KEY$/i.test(name)) return secretsOf([value]);
    return /__HEADERS$/i.test(name) ? secretsOf(headerValues(value)) : [];
  });
}

/** Each as it is sent, and without the scheme before it, such as `Bearer`. */
function headerValues(text: string): unknown[] {
  const headers = sourceSettings.headers.kind.fromText(withoutQuotes(text).text);
  const values = isRecord(headers) ? Object.values(headers) : [];
  return values.flatMap((value) => (typeof value === 'string' ? [value, value.replace(/^\w+\s+/, '')] : []));
}
