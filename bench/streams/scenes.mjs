/** What is measured. `shape` is a mode of the upstream and its argument. */
export const scenes = {
  'flat1-batch': { kind: 'flat', streams: 1, deltas: 20_000, shape: ['batch', 50] },
  'flat200-frame': { kind: 'flat', streams: 200, deltas: 500, shape: ['frame', 0] },
  'paced-500': { kind: 'paced', streams: 500, deltas: 300, shape: ['paced', 33] },
  'paced-1000': { kind: 'paced', streams: 1000, deltas: 20, shape: ['paced', 500] },
  'paced-5000': { kind: 'paced', streams: 5000, deltas: 20, shape: ['paced', 500] },
  'calls-c1': { kind: 'calls', concurrency: 1, deltas: 20, shape: ['whole', 0] },
  'calls-c64': { kind: 'calls', concurrency: 64, deltas: 20, shape: ['whole', 0] },
};

/** The same, over in a moment: shows that all of it works, and nothing about speed. */
export function quickScene(scene) {
  if (scene.kind === 'flat') return { ...scene, streams: Math.min(scene.streams, 20), deltas: 500, forMs: 0, leastRepeats: 1 };
  if (scene.kind === 'calls') return { ...scene, forMs: 0, warmUpMs: 0, leastCalls: 70 };
  return { ...scene, streams: Math.min(scene.streams, 50), deltas: 20, shape: ['paced', 50], settleMs: 100, untilMs: 800, warmUpMs: 0 };
}
