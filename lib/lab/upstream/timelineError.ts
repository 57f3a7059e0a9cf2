import { GatewayError } from '../../model/errors.js';
import type { TimelineStep } from './timeline.js';

interface Place {
  text: string;
  position: number;
}

/** A script that cannot be played. Says where: `line` and `column` count from 1, and are absent if there was no text. */
export class TimelineError extends GatewayError {
  override readonly name = 'TimelineError';
  override readonly code = 'timeline';
  readonly problem: string;
  readonly step?: TimelineStep;
  readonly line?: number;
  readonly column?: number;

  constructor(problem: string, { place, step }: { place?: Place; step?: TimelineStep } = {}) {
    super(place === undefined ? problem : pointAt(problem, place));
    this.problem = problem;
    if (step !== undefined) this.step = step;
    if (place !== undefined) Object.assign(this, lineAndColumn(place));
  }
}

function lineAndColumn({ text, position }: Place): { line: number; column: number } {
  const before = text.slice(0, position).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function pointAt(problem: string, place: Place): string {
  const { line, column } = lineAndColumn(place);
  const where = place.text.includes('\n') ? `line ${line}, column ${column}` : `column ${column}`;
  return `${where}: ${problem}\n  ${place.text.split('\n')[line - 1] ?? ''}\n  ${' '.repeat(column - 1)}^`;
}
