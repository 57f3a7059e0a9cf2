import { maskKey, maskSecrets } from '../model/mask.js';
import { isRecord } from './kind.js';
import type { ResolvedSettings, ResolvedSource } from './settings.js';
import { maskUrl } from './shownValue.js';

/** The settings as they may be printed: keys by their ends, header values and whatever looks like a secret hidden. */
export function maskedSettings({ sources, backendUrl, telemetryUrl, ...rest }: ResolvedSettings): Record<string, unknown> {
  return {
    ...rest,
    ...(backendUrl !== undefined && { backendUrl: maskUrl(backendUrl) }),
    ...(telemetryUrl !== undefined && { telemetryUrl: maskUrl(telemetryUrl) }),
    sources: sources.map(maskedSource),
  };
}

function maskedSource({ apiKey, headers, extraBody, baseUrl, ...rest }: ResolvedSource): Record<string, unknown> {
  return {
    ...rest,
    baseUrl: maskSecrets(maskedQuery(baseUrl), apiKey === undefined ? [] : [apiKey]),
    ...(apiKey !== undefined && { apiKey: maskKey(apiKey) }),
    ...(headers !== undefined && { headers: mapValues(headers, () => '***') }),
    ...(extraBody !== undefined && { extraBody: maskedValue(extraBody) }),
  };
}

/** Any value of a query may be a key, but for the version of an API. */
function maskedQuery(url: string): string {
  return url.replace(/([?&])([^=&]+)=[^&]*/g, (pair, mark: string, name: string) => (/version/i.test(name) ? pair : `${mark}${name}=***`));
}

function maskedValue(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return /key|secret|token|password|auth/i.test(name) ? '***' : maskSecrets(value);
  if (Array.isArray(value)) return value.map((item) => maskedValue(item, name));
  return isRecord(value) ? mapValues(value, maskedValue) : value;
}

function mapValues<T>(values: Readonly<Record<string, T>>, change: (value: T, name: string) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));
}
