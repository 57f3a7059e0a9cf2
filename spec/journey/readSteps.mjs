/**
 * The steps of a page: `{ type: 'run', code }` for a block of `sh`, `{ type: 'write', file, code }` for a block below a line that is
 * nothing but a file's name, `{ type: 'expect', lines }` for a block of `text`: what the last command printed. Each with its `heading`.
 */
export function readSteps(markdown) {
  const steps = [];
  const parts = markdown.matchAll(/^## (?<heading>.+)$|(?:^`(?<file>[\w.]+)`\n\n)?^```(?<language>\w+)\n(?<code>[\s\S]*?)^```$/gm);
  let heading = '';
  for (const { groups } of parts) {
    if (groups.heading !== undefined) heading = groups.heading;
    else steps.push({ heading, ...stepOf(groups) });
  }
  return steps;
}

function stepOf({ file, language, code }) {
  if (file !== undefined) return { type: 'write', file, code };
  if (language === 'sh') return { type: 'run', code };
  if (language === 'text') return { type: 'expect', lines: code.trim().split('\n') };
  throw new Error(`a block of ${language} that names no file:\n${code}`);
}
