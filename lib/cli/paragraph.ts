/** A text written over several lines as one paragraph, to be wrapped where it is printed. */
export function paragraph(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, ' ');
}
