import { describeSettings } from '../../lib/index.js';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

/** The tables of settings, as they have to stand in the documents: of sources, then of the scope; all of them, or the fields named. */
export function settingsTable(only?: readonly string[]): string {
  const table = (level: 'source' | 'scope', prefix: string): string[] => [
    `| key \`${prefix}…\` | field | default | |`,
    '|---|---|---|---|',
    ...describeSettings()
      .filter((row) => row.level === level && only?.includes(row.field) !== false)
      .map(({ key, field, default: fallback, what }) => `| \`${key.slice(prefix.length)}\` | \`${field}\` | ${cell(fallback)} | ${cell(what)} |`),
  ];
  return [...table('source', '<SCOPE>__<PROVIDER>__<N>__'), '', ...table('scope', '<SCOPE>__')].join('\n');
}
