/** The lines of a drawn plot, without the empty ones around it and the arrow above it. */
export function plotLines(drawn: string): string[] {
  return drawn.split('\n').map((line) => line.trimEnd()).filter((line) => line !== '' && !/^ *▲/.test(line));
}
