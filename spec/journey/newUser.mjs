// Does what docs/getting-started.md says, in an empty folder, with the tarball in place of the package's name, and prints how long it took.
//   node spec/journey/newUser.mjs [--tarball FILE] [--keep]
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../package/freePort.mjs';
import { packBuild } from '../package/packBuild.mjs';
import { openShell } from './openShell.mjs';
import { readSteps } from './readSteps.mjs';

const page = new URL('../../docs/getting-started.md', import.meta.url);
const { values: options } = parseArgs({ options: { tarball: { type: 'string' }, keep: { type: 'boolean', default: false } } });

const folder = mkdtempSync(join(tmpdir(), 'polygateway-journey-'));
const tarball = resolve(options.tarball ?? packBuild(join(folder, 'tarball')));
const ports = [await freePort(), await freePort()].map(String);
// Nothing of the caller's settings; what npm has fetched before is not asked for again.
const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: process.env.HOME, npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' };
const shell = openShell({ cwd: folder, env });
const startedAt = Date.now();

try {
  let at = folder;
  for (const step of readSteps(asRunHere(readFileSync(page, 'utf8')))) {
    const stepAt = Date.now();
    if (step.type === 'write') writeFileSync(join(at, step.file), step.code);
    else if (step.type === 'expect') await shell.expect(step.lines);
    else at = await shell.run(step.code);
    const [first] = step.type === 'write' ? [`writes ${step.file}`] : step.type === 'expect' ? [`prints ${step.lines[0]}`] : step.code.split('\n');
    console.log(`${seconds(stepAt)}  ${step.heading}: ${first}`);
  }
  console.log(`${seconds(startedAt)}  docs/getting-started.md, all of it`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  shell.close();
  if (options.keep) console.log(folder);
  else rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function asRunHere(markdown) {
  return markdown.replaceAll('npm install polygateway ', `npm install ${tarball} `).replaceAll('9901', ports[0]).replaceAll('9902', ports[1]);
}

function seconds(sinceMs) {
  return `${((Date.now() - sinceMs) / 1000).toFixed(1)} s`.padStart(7);
}
