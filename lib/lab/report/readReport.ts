import type { AttemptReader, StoredAttempt } from '../../telemetry/attemptReader.js';
import { createReport } from './createReport.js';
import type { ReportHead } from './createReport.js';
import type { ReportFigures } from './reportFigures.js';

export interface ReadReportOptions extends Omit<ReportHead, 'database'> {
  readonly reader: Pick<AttemptReader, 'place' | 'calls'>;
  /** Told after each call how many rows have been read. */
  readonly onProgress?: (rows: number) => void;
  /** Sees each call too, so that another figure is made in the same pass. */
  readonly onCall?: (call: readonly StoredAttempt[]) => void;
}

/** Reads a telemetry database once, in bounded memory. Rejects with `TelemetryUnreadableError`. */
export async function readReport({ reader, madeAt, filter, onProgress, onCall }: ReadReportOptions): Promise<ReportFigures> {
  const report = createReport();
  let rows = 0;
  for await (const call of reader.calls()) {
    report.add(call);
    onCall?.(call);
    rows += call.length;
    onProgress?.(rows);
  }
  return report.figures({ madeAt, filter, database: reader.place });
}
