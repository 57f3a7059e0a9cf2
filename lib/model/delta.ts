import type { Usage } from './usage.js';

/**
 * One piece of an answer. A frame that brings several pieces is one increment (O1): every delta but the frame's first
 * carries `sameFrame: true`. `message-extra` holds pieces of fields that the message has to carry back to the provider.
 */
export type ChatDelta = { sameFrame?: true } & (
  | { type: 'content'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'refusal'; text: string }
  | ToolCallDelta
  | { type: 'usage'; usage: Usage }
  | { type: 'finish'; reason: string }
  | { type: 'logprobs'; logprobs: Record<string, unknown> }
  | { type: 'message-extra'; fields: Record<string, unknown> }
  | ProviderFacts
);

/** A fragment of a tool call, whose optional fields come when the provider sends them; `index` counts the calls of the answer from 0, whatever numbers it used. */
export interface ToolCallDelta {
  type: 'tool-call';
  index: number;
  id?: string;
  name?: string;
  arguments: string;
  /** A call of a custom tool, whose `arguments` are free text. */
  custom?: true;
  /** Fields of the call that this library does not know, kept for the message. */
  extra?: Record<string, unknown>;
}

/** What the provider said about itself; what it did not say is absent. `whole: true`: the answer came in one piece although a stream was asked for. */
export interface ProviderFacts {
  type: 'facts';
  model?: string;
  providerRequestId?: string;
  whole?: true;
}

/**
 * Whether a delta is new model output (O1, O2); `sameFrame` is not looked at here.
 *
 *     delta$.pipe(filter(isOutput), stallMetrics({ thresholdMs: 1_000 })).subscribe(console.log);
 */
export function isOutput(delta: ChatDelta): boolean {
  switch (delta.type) {
    case 'content':
    case 'reasoning':
    case 'refusal':
      return delta.text !== '';
    case 'tool-call':
      return delta.arguments !== '' || Boolean(delta.id) || Boolean(delta.name);
    case 'usage':
    case 'finish':
    case 'logprobs':
    case 'message-extra':
    case 'facts':
      return false;
    default:
      return delta satisfies never;
  }
}
