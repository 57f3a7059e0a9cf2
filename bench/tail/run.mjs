import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe } from '../support/machine.mjs';
import { parseOptions } from '../support/options.mjs';
import { measureOutage, measureSockets } from './sockets/run.mjs';
import { showSilence } from './sockets/showSilence.mjs';

const options = parseOptions(
  { parts: ['virtual', 'silence', 'sockets', 'outage'], rounds: 3, calls: 400, callsPerS: 30, seed: 1, quick: false, json: undefined, plot: undefined },
  { about: 'The tail of call times: in virtual time (--seed and --plot are for it too; more with virtual/run.mjs), and on real sockets against peers.' },
);
const known = { virtual: playVirtual, silence: showSilence, sockets: measureSockets, outage: measureOutage };
const sizes = options.quick ? { ...options, rounds: 1, calls: 20 } : options;
const unknown = options.parts.find((part) => known[part] === undefined);
if (unknown !== undefined) {
  console.error(`--parts has '${unknown}'. Known parts: ${Object.keys(known).join(', ')}.`);
  process.exit(2);
}

console.log(`# The tail\n\n${describe(['openai', 'ai', '@ai-sdk/openai-compatible', '@langchain/openai', '@langchain/core'])}\n`);
const measured = {};
for (const part of options.parts) measured[part] = await known[part](sizes);
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(measured));

/** A program of its own, with raw figures of its own: `tail.json` has its in `tail.virtual.json`. */
function playVirtual({ seed, quick, json, plot }) {
  const given = { seed, ...(json !== undefined && { json: json.replace(/(\.json)?$/, '.virtual.json') }), ...(plot !== undefined && { plot }) };
  const words = Object.entries(given).flatMap(([name, value]) => [`--${name}`, String(value)]);
  console.log('## In virtual time\n');
  execFileSync(process.execPath, [fileURLToPath(new URL('virtual/run.mjs', import.meta.url)), ...words, ...(quick ? ['--quick'] : [])], { stdio: 'inherit' });
}
