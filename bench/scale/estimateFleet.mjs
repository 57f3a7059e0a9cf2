import { medianOf } from './axisTable.mjs';

const fleet = 100;
const callsPerS = 30;
// By the product's rules: a renewal for each source every third of 15 s, and at most ten questions a second of all waiting calls at a source.
const renewalsPerS = 1 / 5;
const mostQuestionsPerS = 10;

/** On paper: what a hundred processes would ask of one Redis, from what it used in the largest step. Redis runs scripts on one core. */
export function estimateFleet({ steps, measured, contestant }) {
  const most = Math.max(...steps);
  const of = (quantity, step = most) => medianOf(measured, contestant, step, quantity);
  const usACommand = of('redisUsPerCall') / of('commandsPerCall');
  const callCommands = fleet * callsPerS * of('commandsPerCall');
  const renewals = fleet * renewalsPerS;
  const questions = fleet * mostQuestionsPerS;
  const cores = (commandsPerS) => ((commandsPerS * usACommand) / 1e6).toFixed(2);
  const mbAProcess = most === Math.min(...steps) ? NaN : (of('redisMb') - of('redisMb', Math.min(...steps))) / (most - Math.min(...steps));
  return [
    `On paper, ${fleet} processes of ${callsPerS} calls/s each with one source at one Redis, from "${contestant}" at ${most} processes (${usACommand.toFixed(0)} µs of Redis a command, all threads and the kernel's part included):`,
    '',
    `- calls: ${Math.round(callCommands)} commands/s, ${cores(callCommands)} cores of Redis; renewals: ${renewals} commands/s for each source, ${cores(renewals)} cores`,
    `- if calls wait at every process: up to ${questions} more commands/s for each source they wait for, ${cores(questions)} cores`,
    `- one core of Redis is full at ${Math.round(1e6 / of('redisUsPerCall'))} calls/s, whoever makes them`,
    `- connections: ${Math.round((of('connections') / most) * fleet)}; memory: ${(of('redisMb', Math.min(...steps)) + mbAProcess * fleet).toFixed(1)} MB`,
  ].join('\n');
}
