import { readFileSync } from 'node:fs';
import TestRunner from 'jest-runner';

// What measures the clock of its own process, or keeps every core busy, says so in its first line: nothing may run beside it.
const runsAlone = ({ path }) => readFileSync(path, 'utf8').startsWith('/** @alone');

export default class Runner extends TestRunner {
  async runTests(tests, watcher, options) {
    const alone = tests.filter(runsAlone);
    const others = tests.filter((test) => !alone.includes(test));
    if (others.length > 0) await super.runTests(others, watcher, options);
    if (alone.length > 0) await super.runTests(alone, watcher, { ...options, serial: true });
  }
}
