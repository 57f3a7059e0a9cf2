/** A markdown table; a column with numbers stands to the right. */
export function table(head, rows) {
  const isRight = (at) => rows.some((row) => typeof row[at] === 'number');
  const lines = [head, head.map((_, at) => (isRight(at) ? '---:' : '---')), ...rows.map((row) => row.map(shown))];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** A number with about three digits that say something; what is no number is a dash. */
export function shown(value) {
  if (typeof value !== 'number') return value ?? '–';
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  return value.toFixed(size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2);
}
