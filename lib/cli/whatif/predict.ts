import type { WhatIfEngine } from '../../lab/whatif/createWhatIf.js';
import type { WhatIf } from '../../lab/whatif/whatIf.js';
import { startProgress } from '../progress.js';
import type { Terminal } from '../terminal.js';

export interface PredictOptions {
  readonly predictor: WhatIfEngine;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/** Makes the predictions from the calls that were added, with a bar. Rejects with the signal's reason when aborted. */
export async function predict({ predictor, terminal, signal }: PredictOptions): Promise<WhatIf> {
  const progress = startProgress({ terminal, label: 'predicting', total: 100 });
  try {
    return await predictor.run((share) => {
      signal.throwIfAborted();
      progress.update(Math.floor(share * 100));
    });
  } finally {
    progress.stop();
  }
}
