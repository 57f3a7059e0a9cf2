// Loaded before a program: when it ends, its last line of output says what it used.
import { writeSync } from 'node:fs';
import { cpuUs, peakRssKb } from '../support/processFigures.mjs';

process.once('exit', () => {
  writeSync(1, `\n${JSON.stringify({ wallMs: performance.now(), cpuMs: cpuUs() / 1000, peakMb: peakRssKb() / 1024 })}\n`);
});
