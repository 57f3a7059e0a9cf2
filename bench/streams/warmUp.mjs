const concurrency = 64;
const shapes = [['whole', 0], ['frame', 0]];

/**
 * Short calls for so long, before anything is measured: code is compiled well only when it has run some thousand times, and what is
 * of interest is a process that has run for hours. By time, so that each contestant gets the same.
 */
export async function warmUp({ call, baseUrlOf }, forMs) {
  const endMs = performance.now() + forMs;
  const worker = async (_, at) => {
    do await call(baseUrlOf({ deltas: 20, shape: shapes[at % shapes.length] }), () => undefined);
    while (performance.now() < endMs);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
