import type { ChatResponse } from '../../model/response.js';
import type { PlannedCall } from './demoPlan.js';

/** A call that was made, beside what it would have taken unhedged. */
export interface PlayedCall {
  readonly planned: PlannedCall;
  readonly response: ChatResponse;
}

/** What `demo --json` prints. Whole milliseconds. */
export interface DemoFigures {
  readonly seed: number;
  readonly calls: number;
  readonly failed: number;
  readonly hedges: number;
  readonly hedgesWon: number;
  /** Sum over all calls of what their callers waited. */
  readonly callMs: number;
  readonly slowestMs: number;
  /** Of the winning attempts: wall = generation + stall. */
  readonly wallMs: number;
  readonly generationMs: number;
  readonly stallMs: number;
  /** The same calls, had only the first source been asked: from its script. */
  readonly unhedged: Readonly<Record<'callMs' | 'slowestMs' | 'wallMs' | 'generationMs' | 'stallMs', number>>;
  readonly requests: number;
  /** Rows of these calls in the database; `null` without one. */
  readonly rows: number | null;
  readonly database: string | null;
}

export type CountedFigures = Pick<DemoFigures, 'seed' | 'failed' | 'requests' | 'rows' | 'database'>;

/** Sums up the calls that were answered. */
export function demoFigures(played: readonly PlayedCall[], counted: CountedFigures): DemoFigures {
  const stats = played.map(({ response }) => response.stats);
  const unhedged = played.map(({ planned }) => planned.unhedged);
  const unhedgedMs = Math.round(sum(unhedged.map(({ wallMs }) => wallMs)));
  const unhedgedStallMs = Math.round(sum(unhedged.map(({ stallMs }) => stallMs)));
  return {
    ...counted,
    calls: played.length,
    hedges: sum(stats.map(({ hedges }) => hedges)),
    hedgesWon: stats.filter(({ hedgeWon }) => hedgeWon).length,
    callMs: sum(played.map(({ response }) => response.callMs)),
    slowestMs: Math.max(0, ...played.map(({ response }) => response.callMs)),
    wallMs: sum(played.map(({ response }) => response.latencyMs)),
    generationMs: sum(stats.map(({ generationMs }) => generationMs)),
    // `null` means that it could not be measured: then nothing was subtracted.
    stallMs: sum(stats.map(({ stallMs }) => stallMs ?? 0)),
    unhedged: {
      callMs: unhedgedMs,
      slowestMs: Math.round(Math.max(0, ...unhedged.map(({ wallMs }) => wallMs))),
      wallMs: unhedgedMs,
      generationMs: unhedgedMs - unhedgedStallMs,
      stallMs: unhedgedStallMs,
    },
  };
}

function sum(figures: readonly number[]): number {
  return figures.reduce((total, figure) => total + figure, 0);
}
