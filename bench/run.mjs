// Runs parts of the bench one after the other, prints their tables and writes them into bench/results/<part>.md.
//   node bench/run.mjs [parts…] [--rounds 5] [--quick]
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseOptions } from './support/options.mjs';

const here = fileURLToPath(new URL('./', import.meta.url));
/** What runs if no part is named; the others take long, or are about something else. */
const usual = ['streams', 'falseStalls', 'tail', 'storage', 'scale'];
const parts = readdirSync(here).filter((name) => existsSync(join(here, name, 'run.mjs')));
const about = `parts: ${parts.join(', ')}; without a name: ${usual.join(', ')}`;
const { words, rounds, quick } = parseOptions({ rounds: undefined, quick: false }, { takesWords: true, words: 'parts', about });
const wanted = words.length > 0 ? words : usual;
const unknown = wanted.filter((name) => !parts.includes(name));
if (unknown.length > 0) {
  console.error(`There is no part '${unknown[0]}'. There are: ${parts.join(', ')}.`);
  process.exit(2);
}

const failed = [];
for (const part of wanted) if ((await runPart(part)) !== 0) failed.push(part);
if (failed.length > 0) console.error(`Goals missed or measurements failed in: ${failed.join(', ')}.`);
process.exit(failed.length > 0 ? 1 : 0);

/** Where a part gives no number of rounds, its own is used. A quick run proves that it works; it leaves no results. */
async function runPart(part) {
  const options = [...(rounds === undefined ? [] : ['--rounds', rounds]), ...(quick ? ['--quick'] : [])];
  const command = ['node', `bench/${part}/run.mjs`, ...options].join(' ');
  console.log(`## ${part}\n\n${command}\n`);
  const { code, printed } = await run([join(here, part, 'run.mjs'), ...options]);
  if (!quick && printed.trim() !== '') {
    mkdirSync(join(here, 'results'), { recursive: true });
    writeFileSync(join(here, 'results', `${part}.md`), `# ${part}\n\n\`${command}\`, ${new Date().toISOString().slice(0, 10)}\n\n${printed.trim()}\n`);
  }
  return code;
}

function run(args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.on('data', (bytes) => {
      printed += bytes;
      process.stdout.write(bytes);
    });
    child.on('close', (code) => resolve({ code: code ?? 1, printed }));
  });
}
