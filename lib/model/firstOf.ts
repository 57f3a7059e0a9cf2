/** As many of several texts as a message holds, each cut where it is long, and how many more there are. */
export function firstOf(texts: readonly string[], { most = 20, longest = 500 }: { readonly most?: number; readonly longest?: number } = {}): string[] {
  const first = texts.slice(0, most).map((text) => shortened(text, longest));
  return texts.length > most ? [...first, `and ${texts.length - most} more`] : first;
}

export function shortened(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
