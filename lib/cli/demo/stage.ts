import { createLogUpdate } from 'log-update';
import type { Screen } from '../terminal.js';

/** Where the demo is drawn. */
export interface Stage {
  /** Draws a block over the one before. */
  show(this: void, lines: readonly string[]): void;
  /** Leaves lines for good, in place of the block. */
  keep(this: void, lines: readonly string[]): void;
  /** Gives the cursor back. */
  close(this: void): void;
}

/** A block that moves, in a terminal. */
export function liveStage({ stream }: Screen): Stage {
  const draw = createLogUpdate(stream);
  return {
    show: (lines) => draw(lines.join('\n')),
    keep: (lines) => draw.persist(lines.join('\n')),
    close: () => draw.done(),
  };
}

/** Plain lines: only what stays. */
export function plainStage({ line }: Screen): Stage {
  return { show: () => undefined, keep: (lines) => lines.forEach((text) => line(text)), close: () => undefined };
}

/** Nothing at all. */
export const silentStage: Stage = { show: () => undefined, keep: () => undefined, close: () => undefined };
