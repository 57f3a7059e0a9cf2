/** A text from a database as it may stand in a terminal: without control characters, which could redraw the screen. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '\uFFFD');
}
