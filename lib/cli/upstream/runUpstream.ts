import { readFileSync } from 'node:fs';
import { mulberry32 } from '../../lab/mulberry32.js';
import { splitScripts } from '../../lab/upstream/parseTimeline.js';
import { randomTimeline } from '../../lab/upstream/randomTimeline.js';
import type { ScriptOrder, Scripts } from '../../lab/upstream/scriptOrder.js';
import { startUpstream } from '../../lab/upstream/upstream.js';
import { messageOf } from '../../model/errors.js';
import { exitCodes } from '../exitCodes.js';
import { stopped } from '../interruption.js';
import type { Terminal } from '../terminal.js';
import { WrongUse } from '../wrongUse.js';
import { createRequestLog } from './requestLog.js';

export interface UpstreamCommandOptions {
  readonly scripts: readonly string[];
  readonly file?: string;
  readonly port: number;
  readonly host: string;
  readonly order: ScriptOrder;
  readonly model: string;
  readonly random: boolean;
  readonly stallShare: number;
  readonly seed?: number;
  readonly quiet: boolean;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

const shortAnswer = 'open@0.1 d@0.3"Hello" d@0.4", this is a simulated answer" d@0.5"." f@0.6 u(10,8)';

/** Serves until it is stopped. */
export async function runUpstream(options: UpstreamCommandOptions): Promise<number> {
  const { port, host, order, model, seed, quiet, terminal: { out, err }, signal } = options;
  const random = seed === undefined ? Math.random : mulberry32(seed);
  const log = quiet ? {} : createRequestLog(err);
  const upstream = await startUpstream({ scripts: scriptsOf(options, random), order, port, host, model, random, ...log });
  out.line(`listening on ${upstream.url}`);
  out.line(`LLM__SIM__1__BASE_URL=${upstream.url}`);
  out.line(`LLM__SIM__1__MODEL=${model}`);
  await stopped(signal);
  await upstream.close();
  return exitCodes.done;
}

function scriptsOf({ scripts, file, random: madeUp, stallShare }: UpstreamCommandOptions, random: () => number): Scripts {
  const written = [...scripts, ...(file === undefined ? [] : readScripts(file))];
  if (madeUp && written.length > 0) throw new WrongUse('--random makes up its answers: give no scripts with it');
  if (madeUp) return () => randomTimeline({ random, stallShare });
  return written.length === 0 ? [shortAnswer] : written;
}

function readScripts(file: string): string[] {
  const scripts = splitScripts(textOf(file));
  if (scripts.length === 0) throw new WrongUse(`--file ${file} holds no script`);
  return scripts;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error: unknown) {
    throw new WrongUse(`--file ${file} cannot be read: ${messageOf(error)}`);
  }
}
