import { createGateway } from '../../assemble/createGateway.js';
import type { Gateway } from '../../assemble/createGateway.js';
import { settingsFromEnv } from '../../config/settingsFromEnv.js';
import type { ChatResponse } from '../../model/response.js';
import { createRecorder } from '../../testing/recording/recorder.js';
import type { Recorder } from '../../testing/recording/recorder.js';
import { exitCodes } from '../exitCodes.js';
import { findingLine } from '../findingLine.js';
import { reportFailure } from '../reportFailure.js';
import { tellTrouble } from '../tellTrouble.js';
import type { Terminal } from '../terminal.js';
import { callSummary } from './callSummary.js';
import { checkRecordFile, writeRecordFile } from './recordFile.js';

export interface ChatOptions {
  readonly prompt: string;
  readonly scope: string;
  readonly stream: boolean;
  readonly json: boolean;
  /** The file that the timeline of each request is saved to; absent: none. */
  readonly record: RecordWish | undefined;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

export interface RecordWish {
  readonly file: string;
  /** Whether what was said is saved too. */
  readonly text: boolean;
}

/** Makes one call and prints it. Rejects with the signal's reason when it is aborted. */
export async function runChat(options: ChatOptions): Promise<number> {
  const { scope, json, record, terminal, signal } = options;
  try {
    const settings = settingsFromEnv(scope, terminal.env);
    if (record === undefined) await ask(createGateway({ settings }), options);
    else await recorded(record, terminal, ({ wrapSource }) => ask(createGateway({ settings, wrapSource }), options));
    return exitCodes.done;
  } catch (error: unknown) {
    signal.throwIfAborted();
    return reportFailure(error, { terminal, json });
  }
}

/** However the call ends, it is saved: one that failed is worth replaying too, and its failure is told whether or not it can be saved. */
async function recorded({ file, text }: RecordWish, terminal: Terminal, run: (recorder: Recorder) => Promise<void>): Promise<void> {
  checkRecordFile(file);
  const recorder = createRecorder({ text });
  const save = (): void => terminal.err.line(writeRecordFile(file, recorder));
  try {
    await run(recorder);
  } catch (failure: unknown) {
    try {
      save();
    } catch (trouble: unknown) {
      reportFailure(trouble, { terminal });
    }
    throw failure;
  }
  save();
}

/** However the call ends, the gateway is closed after it, so that its row is written (E5). */
async function ask(gateway: Gateway, options: ChatOptions): Promise<void> {
  const { prompt, stream, terminal: { err }, signal } = options;
  const trouble = tellTrouble(gateway.events$, err);
  if (err.isTerminal) for (const finding of gateway.findings) err.line(findingLine(finding, err.paint));
  try {
    print(await gateway.chat({ messages: [{ role: 'user', content: prompt }], stream }, { signal }), options);
  } finally {
    await gateway.close();
    trouble.unsubscribe();
  }
}

function print(response: ChatResponse, { json, terminal: { out, err } }: ChatOptions): void {
  out.line(json ? JSON.stringify(response, null, 2) : textOf(response));
  if (err.isTerminal) err.line(err.paint('dim', callSummary(response)));
}

function textOf({ content, refusal, toolCalls }: ChatResponse): string {
  return content || refusal || toolCalls.map(({ name, arguments: args }) => `${name}(${args})`).join('\n');
}
