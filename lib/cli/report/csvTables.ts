import type { Distribution, OutcomeCounts, ReportFigures, SlowCall, TimeSplit } from '../../lab/report/reportFigures.js';
import type { WhatIf } from '../../lab/whatif/whatIf.js';
import { csvText } from './csvText.js';
import type { CsvCell, CsvTable } from './csvText.js';
import { csvWhatIf } from './csvWhatIf.js';

export const csvTableNames = ['sources', 'outcomes', 'hours', 'distributions', 'slowest', 'whatif'] as const;
export type CsvTableName = (typeof csvTableNames)[number];

/** One table of the report as CSV; times in ms, shares from 0 to 1, what was not measured empty. */
export function csvTable(name: CsvTableName, figures: ReportFigures, whatIf: WhatIf | undefined): string {
  return csvText(tableOf(name, figures, whatIf));
}

function tableOf(name: CsvTableName, figures: ReportFigures, whatIf: WhatIf | undefined): CsvTable {
  switch (name) {
    case 'sources':
      return sourcesTable(figures);
    case 'outcomes':
      return outcomesTable(figures);
    case 'hours':
      return hoursTable(figures);
    case 'distributions':
      return distributionsTable(figures);
    case 'slowest':
      return slowestTable(figures);
    case 'whatif':
      return csvWhatIf(whatIf);
    default:
      return name satisfies never;
  }
}

const timeHead = ['attempts', 'wall_ms', 'measured', 'measured_ms', 'stall_ms', 'first_wait_ms', 'cut', 'cut_ms', 'cut_silent_ms', 'whole_ms'];

function timeCells(time: TimeSplit): CsvCell[] {
  return [time.attempts, time.wallMs, time.measured, time.measuredMs, time.stallMs, time.firstWaitMs, time.cut, time.cutMs, time.cutSilentMs, time.wholeMs];
}

const quantiles = ['p50Ms', 'p90Ms', 'p95Ms', 'p99Ms', 'maxMs'] as const;

function quantileHead(name: string): string[] {
  return quantiles.map((quantile) => `${name}_${quantile.replace('Ms', '_ms')}`);
}

function quantileCells(distribution: Distribution): CsvCell[] {
  return quantiles.map((quantile) => distribution[quantile]);
}

function sourcesTable({ sources }: ReportFigures): CsvTable {
  return {
    head: ['source', 'provider', 'models', ...timeHead, ...quantileHead('ttft'), ...quantileHead('longest_silence')],
    rows: sources.map(({ source, provider, models, time, ttft, longestSilence }) => [
      source,
      provider,
      models.join(' '),
      ...timeCells(time),
      ...quantileCells(ttft),
      ...quantileCells(longestSilence),
    ]),
  };
}

function outcomesTable({ sources }: ReportFigures): CsvTable {
  const rowsOf = (source: string, outcomes: OutcomeCounts): CsvCell[][] => Object.entries(outcomes).map(([outcome, attempts]) => [source, outcome, attempts as number]);
  return { head: ['source', 'outcome', 'attempts'], rows: sources.flatMap(({ source, outcomes }) => rowsOf(source, outcomes)) };
}

function hoursTable({ step, hours }: ReportFigures): CsvTable {
  return { head: ['from', 'step', ...timeHead, 'backups', 'failed'], rows: hours.map(({ from, time, backups, failed }) => [from, step, ...timeCells(time), backups, failed]) };
}

function distributionsTable({ sources, ttft, longestSilence, gaps, wall, net, calls }: ReportFigures): CsvTable {
  const named: [string, string | null, Distribution][] = [
    ['ttft', null, ttft],
    ['longest_silence', null, longestSilence],
    ['gaps', null, gaps],
    ['wall', null, wall],
    ['net', null, net],
    ['call_latency', null, calls.latency],
    ['call_net', null, calls.net],
    ...sources.flatMap((of): [string, string, Distribution][] => [['ttft', of.source, of.ttft], ['longest_silence', of.source, of.longestSilence]]),
  ];
  return {
    head: ['distribution', 'source', 'value_ms', 'share_at_or_below'],
    rows: named.flatMap(([name, source, { cdf }]) => cdf.map(([ms, share]): CsvCell[] => [name, source, ms, share])),
  };
}

function slowestTable({ slowest }: ReportFigures): CsvTable {
  const head = ['call_id', 'started_at', 'call_ms', 'answered', 'round', 'role', 'hedge_trigger', 'source', 'start_ms', 'end_ms', 'ttft_ms', 'won', 'error_class', 'error_message'];
  return { head, rows: slowest.flatMap(attemptRows) };
}

function attemptRows({ callId, startedAt, callMs, answered, attempts }: SlowCall): CsvCell[][] {
  return attempts.map(({ round, role, trigger, source, startMs, endMs, ttftMs, won, errorClass, errorMessage }) => [
    ...[callId, startedAt, callMs, answered],
    ...[round, role, trigger, source, startMs, endMs, ttftMs, won, errorClass, errorMessage],
  ]);
}
