/** Lines whose cells stand below each other, two spaces between columns. */
export function textTable(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows.reduce<number[]>((known, row) => row.map((cell, at) => Math.max(known[at] ?? 0, widthOf(cell))).concat(known.slice(row.length)), []);
  return rows.map((row) => row.map((cell, at) => padTo(cell, widths[at] ?? 0)).join('  ').trimEnd());
}

/** `text` and as many of `fill` as it takes to be `width` wide. */
export function padTo(text: string, width: number, fill = ' '): string {
  return text + fill.repeat(Math.max(0, width - widthOf(text)));
}

/** Columns that a text takes in a terminal: Chinese, Japanese, Korean and pictures take two each. */
export function widthOf(text: string): number {
  return Array.from(text).reduce((width, char) => width + (/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(char) ? 2 : /\p{Mn}/u.test(char) ? 0 : 1), 0);
}
