import { cpuUs } from '../support/processFigures.mjs';

let before = () => undefined;

/** Calls `act` when the first meter starts, so that a profile has no loading and no warm-up in it. */
export const beforeMetering = (act) => (before = act);

/** What this process and the upstream use from now until `read()`, and the time that passes. */
export function startMeter(upstreamPid) {
  before();
  before = () => undefined;
  const start = sample(upstreamPid);
  return {
    read() {
      const after = sample(upstreamPid);
      const wallMs = after.atMs - start.atMs;
      return { cpuUs: after.cpuUs - start.cpuUs, wallMs, upstreamBusy: (after.upstreamUs - start.upstreamUs) / 1000 / wallMs };
    },
  };
}

function sample(upstreamPid) {
  return { atMs: performance.now(), cpuUs: cpuUs(), upstreamUs: upstreamPid === undefined ? NaN : cpuUs(upstreamPid) };
}
