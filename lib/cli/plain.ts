/** A text from outside as part of one line: control characters, which could steer a terminal, and runs of white space are one blank each. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
}
