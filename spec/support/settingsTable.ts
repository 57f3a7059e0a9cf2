import { describeSettings } from '../../lib/index.js';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

/** The README's table of settings, as it has to stand there. */
export function settingsTable(): string {
  const table = (level: 'source' | 'scope', prefix: string): string[] => [
    `| key \`${prefix}…\` | field | default | |`,
    '|---|---|---|---|',
    ...describeSettings()
      .filter((row) => row.level === level)
      .map(({ key, field, default: fallback, what }) => `| \`${key.slice(prefix.length)}\` | \`${field}\` | ${cell(fallback)} | ${cell(what)} |`),
  ];
  return [...table('source', '<SCOPE>__<PROVIDER>__<N>__'), '', ...table('scope', '<SCOPE>__')].join('\n');
}
