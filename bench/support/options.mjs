import { parseArgs } from 'node:util';

/**
 * The command line in the shape of `defaults`: `{ rounds: 5, quick: false, json: undefined, scenes: ['a'] }` understands
 * `--rounds 7 --quick --json file --scenes a,b`. A name of several words has dashes on the command line. `words` are what is left
 * where `takesWords` allows it.
 */
export function parseOptions(defaults, { takesWords = false, words = 'words', about = '' } = {}) {
  const names = Object.keys(defaults);
  const given = read(names, defaults, takesWords);
  if (given.values.help) {
    console.log(helpFor(defaults, takesWords ? ` [${words}…]` : '', about));
    process.exit(0);
  }
  const options = Object.fromEntries(names.map((name) => [name, valueOf(name, given.values[dashed(name)], defaults[name])]));
  return takesWords ? { ...options, words: given.positionals } : options;
}

function read(names, defaults, allowPositionals) {
  const options = Object.fromEntries(names.map((name) => [dashed(name), { type: typeof defaults[name] === 'boolean' ? 'boolean' : 'string' }]));
  try {
    return parseArgs({ options: { ...options, help: { type: 'boolean', short: 'h' } }, allowPositionals });
  } catch (error) {
    return refuse(`${error.message.split('. ')[0]}. Known options: ${names.map(flag).join(', ')}, --help.`);
  }
}

function valueOf(name, text, standard) {
  if (text === undefined) return standard;
  if (Array.isArray(standard)) return text.split(',').filter((part) => part !== '');
  if (typeof standard !== 'number') return text;
  const number = Number(text);
  return Number.isFinite(number) && text.trim() !== '' ? number : refuse(`${flag(name)} is '${text}'. Give a number, such as ${flag(name)} ${standard}.`);
}

function helpFor(defaults, words, about) {
  const lines = Object.entries(defaults).map(([name, standard]) => `  ${flag(name).padEnd(18)} ${shown(standard)}`);
  return [`node ${process.argv[1]}${words} [options]`, about, 'options, with what they are if not given:', ...lines].filter((line) => line !== '').join('\n');
}

function shown(standard) {
  if (standard === undefined) return 'none';
  return Array.isArray(standard) ? standard.join(',') : String(standard);
}

/** For what is wrong about the command line: no stack, exit code 2. */
export function refuse(message) {
  console.error(message);
  process.exit(2);
}

const dashed = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const flag = (name) => `--${dashed(name)}`;
