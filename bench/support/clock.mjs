/** CLOCK_MONOTONIC in microseconds, which is one for all processes of the machine. */
export function nowUs() {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e6 + Math.floor(nanoseconds / 1000);
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
