import type { Run } from './faultScene.js';
import { faults, hedgeS, limitS } from './faultTable.js';
import type { Delivery, Expected, Fault } from './faultTable.js';
import { secondMs } from './faultyProvider.js';

export const heading =
  `Source \`a\` has the fault, source \`b\` is healthy and stands second. Limits of silence ${limitS} s, \`HEDGE__AFTER_S\` and \`HEDGE__STALL_AFTER_S\` ${hedgeS} s, else the defaults; ` +
  `run at ${1000 / secondMs} times the speed, times in seconds of the limits. \`1 + 1\`: requests to \`a\` and to \`b\`.`;

/** The table of docs/front-door.md. */
export function faultRows(runOf: (fault: Fault, delivery: Delivery) => Run): string[] {
  return [
    '| fault of `a` | `commit` | `buffered`, or not streamed |',
    '|---|---|---|',
    ...faults.map((fault) => `| ${fault.name} | ${cell(fault.commit, [runOf(fault, 'commit')])} | ${cell(fault.heldBack, [runOf(fault, 'buffered'), runOf(fault, 'whole')])} |`),
  ];
}

function cell({ words }: Expected, runs: readonly Run[]): string {
  const requests = [...new Set(runs.map((run) => run.requests.join(' + ')))].join(' or ');
  return `${words}, ${Math.max(...runs.map(({ s }) => s)).toFixed(0)} s, ${requests}`;
}
