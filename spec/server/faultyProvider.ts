import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startJsonServer } from '../support/jsonServer.js';

/** A second of the limits lasts so long here. */
export const secondMs = 100;

export const texts = { a: 'The tide comes in slowly, then it turns.', b: 'A boat lies on the sand and waits for it.', begun: 'The tide ' } as const;

/** One request to a provider. */
export interface Exchange {
  /** From 1 on. */
  readonly number: number;
  /** As many requests have come as there are callers. */
  readonly all: Promise<void>;
}

/** Something to write, to do, or to wait for. */
export type Step = string | ((response: ServerResponse) => unknown) | Promise<void>;
export type Play = (exchange: Exchange) => readonly Step[];

export interface Provider {
  readonly origin: string;
  readonly requests: readonly unknown[];
  /** It has written its first word. */
  readonly spoke: Promise<void>;
  /** A connection was closed from the other side before the answer had ended. */
  readonly left: Promise<void>;
  close(): Promise<void>;
}

export async function startProvider(play: Play, { callers = 1 }: { readonly callers?: number } = {}): Promise<Provider> {
  const [all, spoke, left] = [openGate(), openGate(), openGate()];
  const server = await startJsonServer((response) => {
    const number = server.requests.length;
    if (number === callers) all.open();
    response.on('close', () => { if (!response.writableEnded) left.open(); });
    void perform(response, play({ number, all: all.passed }), spoke.open);
  });
  return { origin: server.origin, requests: server.requests, spoke: spoke.passed, left: left.passed, close: () => server.close() };
}

function openGate(): { readonly passed: Promise<void>; open(this: void): void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => { open = resolve; });
  return { passed, open: () => open() };
}

async function perform(response: ServerResponse, steps: readonly Step[], spoken: () => void): Promise<void> {
  for (const step of steps) {
    if (response.destroyed) return;
    if (typeof step === 'function') await step(response);
    else if (typeof step !== 'string') await step;
    else {
      if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(step);
      spoken();
    }
  }
}

export const waitS = (seconds: number): Step => (response) => Promise.race([sleep(seconds * secondMs, undefined, { ref: false }), once(response, 'close')]);
export const drop: Step = (response) => response.destroy();
export const hangUp: Step = (response) => response.end();

export function refuse({ status, code, headers = {} }: { readonly status: number; readonly code: string; readonly headers?: Readonly<Record<string, string>> }): Step {
  return (response) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ error: { message: `refused: ${code}`, type: 'error', code } }));
}

export function say(content: string): Step {
  return chunk({ delta: { content }, finish_reason: null });
}

export function finish(reason: string): Step {
  return chunk({ delta: {}, finish_reason: reason });
}

function chunk(choice: object): Step {
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, ...choice }] })}\n\n`;
}

export const done: readonly Step[] = ['data: [DONE]\n\n', hangUp];
export const end: readonly Step[] = [finish('stop'), ...done];
export const begun: readonly Step[] = texts.begun.split(/(?<= )/).map(say);
export const rest: readonly Step[] = [say(texts.a.slice(texts.begun.length)), ...end];
export const whole: readonly Step[] = [...begun, ...rest];
export const healthy: readonly Step[] = [...texts.b.split(/(?<= )/).map(say), ...end];
export const trickle: readonly Step[] = Array.from(texts.a).flatMap((letter) => [waitS(1), say(letter)]);
