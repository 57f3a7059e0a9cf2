/** Everything on the sockets is this many times faster than in the workload: 20 s of silence are 400 ms. */
export const timeScale = 50;

export const scaledMs = (seconds) => (seconds * 1000) / timeScale;
export const unscaledS = (ms) => (ms * timeScale) / 1000;
