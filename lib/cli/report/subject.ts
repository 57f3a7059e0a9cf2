import type { ReportFigures } from '../../lab/report/reportFigures.js';
import { printable } from './printable.js';

/** What was read, in words: the database, the time and the filter. */
export function subjectOf({ database, firstAt, lastAt, filter: { source, tags } }: Pick<ReportFigures, 'database' | 'firstAt' | 'lastAt'> & { readonly filter: Pick<ReportFigures['filter'], 'source' | 'tags'> }): string {
  const span = firstAt === null || lastAt === null ? [] : [`${minuteOf(firstAt)} to ${minuteOf(lastAt)} UTC`];
  const only = [...(source === null ? [] : [source]), ...Object.entries(tags).map(([key, value]) => `${key}=${value}`)];
  return [printable(database), ...span, ...only.map((part) => `only ${printable(part)}`)].join(', ');
}

function minuteOf(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ');
}
