// Publishes the package that stands in the current folder, from CI and with provenance; says everything that is in the way at once.
//   node .ci/release.mjs [--dry-run]
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values: { 'dry-run': dryRun } } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } });
const pack = JSON.parse(readFileSync('package.json', 'utf8'));
const refused = refusals();

for (const reason of refused) console.error(`refused: ${reason}`);
if (refused.length > 0 && !dryRun) process.exit(1);

run('npm', ['run', 'check']);
// What `check` has built and tested is what goes out: no script of the package runs again.
run('npm', ['publish', '--provenance', '--access', 'public', '--ignore-scripts', ...(dryRun ? ['--dry-run'] : [])]);
if (refused.length > 0) process.exit(1);

function refusals() {
  const { version, repository, license } = pack;
  const tag = `v${version}`;
  const changelog = existsSync('CHANGELOG.md') ? readFileSync('CHANGELOG.md', 'utf8') : '';
  return [
    [git('status', '--porcelain') !== '', 'the working tree has changes that are not committed; commit them or put them away'],
    [!git('tag', '--points-at', 'HEAD').split('\n').includes(tag), `this commit has no tag ${tag}, the version in package.json; run: git tag ${tag}`],
    [!changelog.split('\n').includes(`## ${version}`), `CHANGELOG.md has no section "## ${version}"`],
    [!(typeof repository === 'string' || repository?.url), 'package.json has no repository, which provenance is checked against and links of README.md lead to'],
    [!license, 'package.json has no license'],
    [!hasIdentity(process.env), 'this is not a CI job with an identity token (GitHub: permissions id-token: write; GitLab: id_tokens SIGSTORE_ID_TOKEN), without which there is no provenance'],
  ].flatMap(([isSo, reason]) => (isSo ? [reason] : []));
}

function hasIdentity({ ACTIONS_ID_TOKEN_REQUEST_URL, SIGSTORE_ID_TOKEN }) {
  return Boolean(ACTIONS_ID_TOKEN_REQUEST_URL || SIGSTORE_ID_TOKEN);
}

function git(...args) {
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}

function run(command, args) {
  console.log(`> ${command} ${args.join(' ')}`);
  execFileSync(command, args, { stdio: 'inherit' });
}
