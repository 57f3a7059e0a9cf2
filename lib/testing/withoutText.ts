import type { ChatDelta, ToolCallDelta } from '../model/delta.js';

/** As long as the text, and nothing of it. */
export function blank(text: string): string {
  return 'x'.repeat(text.length);
}

/**
 * A delta of the same type and length that tells nothing of what was said. Whether it counts as an increment stays; ids of
 * tool calls stay different from each other. Fields whose form is not known may hold text anywhere, so that nothing of them stays.
 */
export function withoutText(delta: ChatDelta): ChatDelta {
  const frame = delta.sameFrame === true ? { sameFrame: true as const } : {};
  return { ...blankDelta(delta), ...frame };
}

function blankDelta(delta: ChatDelta): ChatDelta {
  switch (delta.type) {
    case 'content':
    case 'reasoning':
    case 'refusal':
      return { type: delta.type, text: blank(delta.text) };
    case 'tool-call':
      return blankCall(delta);
    case 'usage':
      return { type: 'usage', usage: delta.usage };
    case 'finish':
      return { type: 'finish', reason: delta.reason };
    case 'logprobs':
      return { type: 'logprobs', logprobs: {} };
    case 'message-extra':
      return { type: 'message-extra', fields: {} };
    case 'facts': {
      const { model, providerRequestId, whole } = delta;
      return {
        type: 'facts',
        ...(model === undefined ? {} : { model }),
        ...(providerRequestId === undefined ? {} : { providerRequestId: blank(providerRequestId) }),
        ...(whole === undefined ? {} : { whole }),
      };
    }
    default:
      return delta satisfies never;
  }
}

function blankCall({ index, id, name, arguments: text, custom }: ToolCallDelta): ToolCallDelta {
  return {
    type: 'tool-call',
    index,
    ...(id === undefined ? {} : { id: blankId(id, index) }),
    ...(name === undefined ? {} : { name: blank(name) }),
    arguments: blank(text),
    ...(custom === undefined ? {} : { custom }),
  };
}

/** Of the same length, with the number of the call at its end where there is room. */
function blankId(id: string, index: number): string {
  return id === '' ? '' : String(index).padStart(id.length, 'x').slice(-id.length);
}
