import type { Delivery, Got } from './faultTable.js';

export interface AskOptions {
  readonly signal?: AbortSignal;
  /** The first text has come. */
  readonly onText?: () => void;
}

interface Chunk {
  readonly error?: { readonly code: string };
  readonly choices?: readonly { readonly delta: { readonly content?: string }; readonly finish_reason: string | null }[];
}

/** Asks as any client would, and reads what comes by the letter of the protocol. */
export async function askChat(url: string, delivery: Delivery, { signal, onText }: AskOptions = {}): Promise<Got> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(delivery === 'whole' ? {} : { 'x-polygateway-delivery': delivery }) },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'What does the sea do?' }], ...(delivery === 'whole' ? {} : { stream: true }) }),
    ...(signal === undefined ? {} : { signal }),
  });
  if (response.status !== 200) return refusal(response.status, await response.json());
  if (delivery === 'whole') return wholeAnswer(await response.json());
  return streamedAnswer(await textOf(response, onText));
}

async function textOf(response: Response, onText: () => void = () => undefined): Promise<string> {
  let text = '';
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.includes('"content":"T')) onText();
  }
  return text;
}

function refusal(status: number, body: unknown): Got {
  return { type: 'refused', status, code: (body as Required<Chunk>).error.code };
}

function wholeAnswer(body: unknown): Got {
  const [choice] = (body as { choices: { message: { content: string }; finish_reason: string }[] }).choices;
  return { type: 'answer', text: choice!.message.content, finish: choice!.finish_reason };
}

function streamedAnswer(stream: string): Got {
  const events = stream.split('\n\n').filter((event) => event !== '' && !event.startsWith(':'));
  const last = events.pop() ?? '';
  const ended = last === 'data: [DONE]';
  const chunks = (ended ? events : [...events, last]).map((event) => JSON.parse(event.replace(/^data: /, '')) as Chunk);
  const text = chunks.map(({ choices }) => choices?.[0]?.delta.content ?? '').join('');
  const finishes = chunks.flatMap(({ choices }) => choices?.[0]?.finish_reason ?? []);
  const failed = chunks.findIndex(({ error }) => error !== undefined);
  if (ended && failed === -1 && finishes.length === 1) return { type: 'answer', text, finish: finishes[0] ?? null };
  if (!ended && failed === chunks.length - 1 && finishes.length === 0) return { type: 'interrupted', text, code: chunks[failed]?.error?.code ?? '' };
  return { type: 'wrong', what: stream };
}
