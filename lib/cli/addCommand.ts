import type { Command } from 'commander';
import type { Terminal } from './terminal.js';

export interface CommandContext {
  readonly terminal: Terminal;
  /** Takes the exit code. */
  readonly done: (exitCode: number) => void;
}

/** Adds one command to the program. */
export type AddCommand = (this: void, program: Command, context: CommandContext) => void;
