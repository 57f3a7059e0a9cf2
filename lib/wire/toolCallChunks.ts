import type { ToolCallDelta } from '../model/delta.js';

/** A fragment of a tool call in a chunk; id and type come with a call's first one. */
export interface ToolCallChunk {
  /** Counts the calls of the answer from 0. */
  index: number;
  /** Absent but in a call's first fragment. */
  id?: string;
  /** Absent but in a call's first fragment. A call of a custom tool says `custom` here, and has its text there: OpenAI's types know none in a stream. */
  type?: 'function';
  /** Absent in a call of a custom tool; its name is told once, its arguments piece by piece. */
  function?: { name?: string; arguments?: string };
  [field: string]: unknown;
}

/** Fragments of tool calls; clients want the id with the first one of a call, and neither id nor name a second time. */
export interface ToolCallChunks {
  /** By which calls are named whose provider gave them no id. */
  name(this: void, callId: string): void;
  chunk(this: void, delta: ToolCallDelta): ToolCallChunk;
}

export function createToolCallChunks(): ToolCallChunks {
  let owner = '';
  const calls = new Map<number, { isNamed: boolean }>();

  return {
    name(callId) {
      owner = callId;
    },
    chunk({ index, id, name = '', arguments: text, custom = false, extra }) {
      const known = calls.get(index);
      const call = known ?? { isNamed: false };
      calls.set(index, call);
      const told = call.isNamed || name === '' ? {} : { name };
      call.isNamed ||= name !== '';
      const type = custom ? 'custom' : 'function';
      const first = known === undefined ? { id: id || `call_${owner}_${index}`, type: type as 'function' } : {};
      return { index, ...first, [type]: { ...told, [custom ? 'input' : 'arguments']: text }, ...extra };
    },
  };
}
