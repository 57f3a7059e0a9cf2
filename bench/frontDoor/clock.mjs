/** CLOCK_MONOTONIC in milliseconds, which is one for all processes of the machine. */
export function nowMs() {
  const [s, ns] = process.hrtime();
  return s * 1000 + ns / 1e6;
}
