import { fileURLToPath } from 'node:url';
import { measureIn, startService } from '../support/child.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

export const sourcesAxis = {
  title: 'Sources of one gateway', notes: 'replies of 20 deltas, 16 calls at a time, round_robin, so that each source is asked; backend in memory, no rows; the sources share 16 ports',
  step: 'sources', steps: [2, 5, 20, 50, 200], quickSteps: [2, 6], contestants: ['all answer', 'one in two refuses'],
  figures: { 'CPU µs/call': 'callUs', 'CPU µs/delta': 'deltaUs', 'createGateway ms': 'createMs', 'idle KB/source': 'idleKbASource', 'idle MB': 'idleMb', 'requests/call': 'requestsPerCall' },
  plots: [{ quantity: 'callUs', y: 'CPU µs per call' }, { quantity: 'deltaUs', y: 'CPU µs per delta' }],
  async open({ quick }) {
    const [upstream, refusing] = await Promise.all([startService(here('../streams/upstream/main.mjs')), startService(here('refusingUpstream.mjs'))]);
    return {
      measure({ step, contestant }) {
        const task = { sources: step, refusing: contestant !== 'all answer', ports: upstream.ports, refusingPort: refusing.port, forMs: quick ? 200 : 3000 };
        return measureIn(here('measureSources.mjs'), [JSON.stringify(task)], { flags: ['--expose-gc'] });
      },
      close() {
        upstream.stop();
        refusing.stop();
      },
    };
  },
};
