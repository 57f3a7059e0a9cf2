/** What the comments `// prints …` of a block say of its output, line by line; `undefined` where they say nothing. */
export function saidLines(code: string): readonly string[] | undefined {
  const said = [...code.matchAll(/\/\/ prints (.*)$/gm)].map(([, line = '']) => line.trim());
  return said.length === 0 ? undefined : said;
}

/** Whether the output is what was said; `…` stands for anything within a line. */
export function isAsSaid(stdout: string, said: readonly string[]): boolean {
  const lines = stdout.trimEnd().split('\n');
  return lines.length === said.length && said.every((line, at) => patternOf(line).test((lines[at] ?? '').trim()));
}

function patternOf(line: string): RegExp {
  return new RegExp(`^${line.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`);
}
