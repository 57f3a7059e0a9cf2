import type { ChatDelta, ToolCallDelta } from '../../model/delta.js';
import type { Usage } from '../../model/usage.js';

/** As long as the text, and nothing of it. */
export function blank(text: string): string {
  return 'x'.repeat(text.length);
}

/** A code or a finish reason stays where it is one word, as such names are; anything longer may be what was said. */
export function blankUnlessWord(text: string): string {
  return /^[\w-]{1,64}$/.test(text) ? text : blank(text);
}

/**
 * A delta of the same type and length that tells nothing of what was said. Whether it counts as an increment stays; ids of
 * tool calls stay different from each other. Fields whose form is not known may hold text anywhere, so that nothing of them stays.
 * `undefined` for a delta of a type that this library does not know.
 */
export function withoutText(delta: ChatDelta): ChatDelta | undefined {
  const blanked = blankDelta(delta);
  return blanked !== undefined && delta.sameFrame === true ? { ...blanked, sameFrame: true } : blanked;
}

function blankDelta(delta: ChatDelta): ChatDelta | undefined {
  switch (delta.type) {
    case 'content':
    case 'reasoning':
    case 'refusal':
      return { type: delta.type, text: blank(delta.text) };
    case 'tool-call':
      return blankCall(delta);
    case 'usage':
      return { type: 'usage', usage: figuresOf(delta.usage) };
    case 'finish':
      return { type: 'finish', reason: blankUnlessWord(delta.reason) };
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
      delta satisfies never;
      return undefined;
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

/** A source's report may have more in it. */
function figuresOf({ promptTokens, completionTokens, totalTokens, reasoningTokens, cachedTokens }: Usage): Usage {
  return { promptTokens, completionTokens, totalTokens, reasoningTokens, cachedTokens };
}

/** Of the same length, with the number of the call at its end where there is room. */
function blankId(id: string, index: number): string {
  return id === '' ? '' : String(index).padStart(id.length, 'x').slice(-id.length);
}
