import { createReport } from '../../lab/report/createReport.js';
import type { ReportFigures } from '../../lab/report/reportFigures.js';
import { renderPage } from '../../lab/page/renderPage.js';
import { createWhatIf } from '../../lab/whatif/createWhatIf.js';
import type { Thresholds, WhatIf } from '../../lab/whatif/whatIf.js';
import type { TelemetryTarget } from '../../telemetry/telemetryUrl.js';
import { exitCodes } from '../exitCodes.js';
import { reportFailure } from '../reportFailure.js';
import type { Terminal } from '../terminal.js';
import { predict } from '../whatif/predict.js';
import type { WhatIfFlags } from '../whatif/whatIfOptions.js';
import { WrongUse } from '../wrongUse.js';
import { csvTable } from './csvTables.js';
import type { CsvTableName } from './csvTables.js';
import { currentThresholds } from './currentThresholds.js';
import { createOverview } from './overview.js';
import { checkReportFile, writeReportFile } from './reportFile.js';
import { filterOf } from './readingOptions.js';
import type { ReadingFlags } from './readingOptions.js';
import { defaultScope, telemetryTarget } from '../telemetryTarget.js';
import type { TelemetryTargetOptions } from '../telemetryTarget.js';
import { readTelemetry } from './readTelemetry.js';
import { summaryLines } from './summaryLines.js';

export interface ReportOptions extends ReadingFlags, WhatIfFlags {
  readonly out?: string;
  readonly json?: boolean;
  readonly csv?: CsvTableName;
  readonly whatif: boolean;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/** All that can be shown of a database. */
interface Findings {
  readonly figures: ReportFigures;
  /** Absent: not asked for. */
  readonly whatIf?: WhatIf;
  /** Absent: not known. */
  readonly current?: Thresholds;
  /** Whose settings a threshold is recommended for. */
  readonly scope: string;
}

/** Reads a database, writes the page and prints what was asked for. Rejects with the signal's reason when aborted. */
export async function runReport(options: ReportOptions): Promise<number> {
  const { json = false, terminal, signal } = options;
  // The moment of the wall clock that the page bears and is named after.
  const madeAt = new Date();
  try {
    const file = fileOf(options, madeAt);
    if (options.csv === 'whatif' && !predicts(options)) throw new WrongUse('--csv whatif has nothing to print where --no-whatif or --source is written: leave them out');
    const target = telemetryTarget(named(options));
    if (file !== undefined) await checkReportFile(file, target.type === 'sqlite' ? target.file : undefined);
    const findings = await find(options, target, madeAt);
    if (file !== undefined) await writeReportFile(file, renderPage(findings));
    print(findings, file, options);
    return exitCodes.done;
  } catch (error: unknown) {
    signal.throwIfAborted();
    return reportFailure(error, { terminal, json });
  }
}

function named({ db, scope, terminal: { env } }: ReportOptions): TelemetryTargetOptions {
  return { db, scope, env };
}

/** Not for one source: backups are drawn from what the others did. */
function predicts({ whatif, source }: ReportOptions): boolean {
  return whatif && source === undefined;
}

function fileOf({ out, json, csv }: ReportOptions, madeAt: Date): string | undefined {
  if (out !== undefined || json === true || csv !== undefined) return out;
  return `polygateway-report-${madeAt.toISOString().slice(0, 10)}.html`;
}

async function find(options: ReportOptions, target: TelemetryTarget, madeAt: Date): Promise<Findings> {
  const { scope, maxExtra, sample, seed, terminal, signal } = options;
  const [filter, report, about] = [filterOf(options), createReport(), createOverview()];
  const predictor = predicts(options) ? createWhatIf({ maxExtra, seed, sampleSize: sample }) : undefined;
  const takers = [report, about, ...(predictor === undefined ? [] : [predictor])];
  const current = currentThresholds(named(options));
  const database = await readTelemetry({ target, filter, scope, takers, terminal, signal });
  return {
    figures: report.figures({ madeAt, database, filter }),
    ...(predictor === undefined ? {} : { whatIf: await predict({ predictor, terminal, signal }) }),
    ...(current === undefined ? {} : { current }),
    scope: about.overview().scope ?? defaultScope,
  };
}

function print({ figures, whatIf, scope }: Findings, file: string | undefined, { json = false, csv, source, terminal: { out, err } }: ReportOptions): void {
  const written = file === undefined ? [] : [`The whole report, for a browser: ${file}`];
  if (!json && csv === undefined) {
    const unpredicted = source === undefined ? [] : ['With --source no threshold is looked for: backups are drawn from the other sources.'];
    for (const line of [...summaryLines({ figures, whatIf, scope, screen: out }), ...unpredicted, ...written]) out.line(line);
    return;
  }
  if (json) out.line(JSON.stringify({ figures, whatIf: whatIf ?? null }, null, 2));
  else if (csv !== undefined) out.write(csvTable(csv, figures, whatIf));
  if (err.isTerminal) for (const line of written) err.line(line);
}
