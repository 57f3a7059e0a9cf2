import { createWhatIf } from '../../lab/whatif/createWhatIf.js';
import type { WhatIfOptions as PredictorOptions } from '../../lab/whatif/createWhatIf.js';
import { exitCodes } from '../exitCodes.js';
import { createOverview } from '../report/overview.js';
import { filterOf } from '../report/readingOptions.js';
import type { ReadingFlags } from '../report/readingOptions.js';
import { defaultScope, telemetryTarget } from '../telemetryTarget.js';
import { readTelemetry } from '../report/readTelemetry.js';
import { subjectOf } from '../report/subject.js';
import { reportFailure } from '../reportFailure.js';
import type { Terminal } from '../terminal.js';
import { predict } from './predict.js';
import { whatIfLines } from './whatIfLines.js';
import type { WhatIfFlags } from './whatIfOptions.js';

export interface WhatIfRunOptions extends ReadingFlags, WhatIfFlags {
  /** Thresholds to try, in ms; absent: those of the default grid. */
  readonly stall?: readonly number[];
  readonly first?: readonly number[];
  readonly resamples: number;
  readonly json?: boolean;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/** Reads a database and prints what other thresholds would have done. Rejects with the signal's reason when aborted. */
export async function runWhatIf(options: WhatIfRunOptions): Promise<number> {
  const { json = false, terminal, signal } = options;
  try {
    await printPredictions(options);
    return exitCodes.done;
  } catch (error: unknown) {
    signal.throwIfAborted();
    return reportFailure(error, { terminal, json });
  }
}

async function printPredictions(options: WhatIfRunOptions): Promise<void> {
  const { db, scope, json = false, terminal, signal } = options;
  const { out, env } = terminal;
  const [filter, about, predictor] = [filterOf(options), createOverview(), createWhatIf(predictorOptions(options))];
  const database = await readTelemetry({ target: telemetryTarget({ db, scope, env }), filter, scope, takers: [about, predictor], terminal, signal });
  const whatIf = await predict({ predictor, terminal, signal });
  if (json) {
    out.line(JSON.stringify(whatIf, null, 2));
    return;
  }
  const { scope: busiest = defaultScope, ...span } = about.overview();
  const subject = subjectOf({ database, ...span, filter: { source: filter.source ?? null, tags: filter.tags ?? {} } });
  for (const line of whatIfLines({ whatIf, subject, scope: busiest, screen: out })) out.line(line);
}

function predictorOptions({ maxExtra, seed, sample, resamples, stall, first }: WhatIfRunOptions): PredictorOptions {
  return { maxExtra, seed, sampleSize: sample, resamples, ...(stall === undefined ? {} : { hedgeStallAfterMs: stall }), ...(first === undefined ? {} : { hedgeAfterMs: first }) };
}
