import { createReport } from '../../lib/lab/report/createReport.js';
import type { ReportHead } from '../../lib/lab/report/createReport.js';
import type { ReportFigures } from '../../lib/lab/report/reportFigures.js';
import type { AttemptReader } from '../../lib/telemetry/attemptReader.js';

/** The figures of all that a reader gives. */
export async function readReport({ reader, ...head }: { readonly reader: AttemptReader } & Omit<ReportHead, 'database'>): Promise<ReportFigures> {
  const report = createReport();
  for await (const call of reader.calls()) report.add(call);
  return report.figures({ ...head, database: reader.place });
}
