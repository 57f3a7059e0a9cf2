import cliProgress from 'cli-progress';
import { asyncScheduler } from 'rxjs';
import type { SchedulerLike } from 'rxjs';
import type { Screen, Terminal } from './terminal.js';

export interface ProgressOptions {
  readonly terminal: Terminal;
  /** What is done, such as `reading attempts`. */
  readonly label: string;
  /** How much there is to do; without it only the time is shown. */
  readonly total?: number | undefined;
  /** Work that is done sooner shows nothing. */
  readonly afterMs?: number;
  /** Not the gateway's clock, which waits while the event loop is busy, as it is here. */
  readonly scheduler?: SchedulerLike;
}

export interface Progress {
  /** How much is done by now. */
  update(this: void, done: number): void;
  /** Takes the bar away without a trace; harmless when repeated. */
  stop(this: void): void;
}

const barWidth = 30;

/** A bar on standard error for work that may take longer than a second. Nothing is shown where that is no terminal. */
export function startProgress({ terminal: { err, env }, label, total, afterMs = 1000, scheduler = asyncScheduler }: ProgressOptions): Progress {
  if (!err.isTerminal || env['TERM'] === 'dumb') return { update: () => undefined, stop: () => undefined };
  const bar = createBar(err, formatOf({ label, total, screen: err }));
  let done = 0;
  const showing = scheduler.schedule(() => bar.start(total ?? 0, done), afterMs);
  return {
    update: (now) => {
      done = now;
      bar.update(now);
    },
    stop: () => {
      showing.unsubscribe();
      bar.stop();
    },
  };
}

interface FormatOptions {
  readonly label: string;
  readonly total: number | undefined;
  readonly screen: Screen;
}

function formatOf({ label, total, screen: { columns, paint } }: FormatOptions): string {
  if (total === undefined) return `${label} ${paint('dim', '{duration_formatted}')}`;
  // The library cuts a line at the terminal's width and counts the codes of the colours in.
  const width = label.length + barWidth + ' 100 % '.length + 2 * String(total).length + paint('dim', '/').length;
  return width < columns ? `${label} {bar} ${paint('dim', '{percentage} % {value}/{total}')}` : `${label} {percentage} %`;
}

/**
 * Neither the cursor nor the wrapping of lines is switched: a process that a second Ctrl-C ends at once could not switch
 * them back. Nor does it listen for signals: the commands do, and stop it.
 */
function createBar({ stream }: Screen, format: string): cliProgress.SingleBar {
  const manners = { hideCursor: false, linewrap: true, clearOnComplete: true, gracefulExit: false };
  return new cliProgress.SingleBar({ stream, format, barsize: barWidth, emptyOnZero: true, ...manners }, cliProgress.Presets.shades_classic);
}
