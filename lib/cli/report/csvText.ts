export type CsvCell = string | number | boolean | null;

export interface CsvTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly CsvCell[])[];
}

/** A table as CSV after RFC 4180, `null` as an empty cell; texts that a spreadsheet would take for a formula get an apostrophe before them. */
export function csvText({ head, rows }: CsvTable): string {
  return [head, ...rows].map((row) => `${row.map(cellText).join(',')}\r\n`).join('');
}

function cellText(cell: CsvCell): string {
  if (cell === null) return '';
  const text = typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
