import { addAbortSignal } from 'node:stream';
import type { Readable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { WrongUse } from '../wrongUse.js';

export interface PromptOptions {
  readonly text: string | undefined;
  readonly input: Readable & { isTTY?: boolean };
  readonly signal: AbortSignal;
}

/** The text to ask: the argument, or standard input for `-` and where something is piped in. Throws `WrongUse` for none. */
export async function readPrompt({ text, input, signal }: PromptOptions): Promise<string> {
  if (text === undefined && input.isTTY === true) throw new WrongUse('there is no text to ask: polygateway chat "Why is the sky blue?"');
  const prompt = text === undefined || text === '-' ? await readAll(addAbortSignal(signal, input)) : text;
  if (prompt.trim() === '') throw new WrongUse('the text to ask is empty');
  return prompt;
}
