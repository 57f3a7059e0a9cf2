const opening = '<think>';
const closing = '</think>';

export interface ThinkPart {
  type: 'content' | 'reasoning';
  text: string;
}

/** Splits a leading `<think>…</think>` block out of text that arrives in pieces; later tags are text. */
export interface ThinkTags {
  push(this: void, text: string): ThinkPart[];
  /** What was held back because it might have been the beginning of a tag. */
  flush(this: void): ThinkPart[];
}

export function createThinkTags(): ThinkTags {
  let state: 'start' | 'inside' | 'after' = 'start';
  let held = '';

  function push(text: string): ThinkPart[] {
    if (state === 'after') return part('content', text);
    held += text;
    if (state === 'inside') return readInside();
    const start = held.trimStart();
    if (start.length < opening.length && opening.startsWith(start)) return [];
    if (!start.startsWith(opening)) {
      state = 'after';
      return part('content', take(held.length));
    }
    state = 'inside';
    held = start.slice(opening.length);
    return readInside();
  }

  function readInside(): ThinkPart[] {
    const end = held.indexOf(closing);
    if (end === -1) return part('reasoning', take(held.length - tagBeginning(held)));
    const reasoning = part('reasoning', take(end));
    const content = part('content', held.slice(closing.length));
    state = 'after';
    held = '';
    return [...reasoning, ...content];
  }

  function take(length: number): string {
    const text = held.slice(0, length);
    held = held.slice(length);
    return text;
  }

  return { push, flush: () => part(state === 'inside' ? 'reasoning' : 'content', take(held.length)) };
}

function part(type: ThinkPart['type'], text: string): ThinkPart[] {
  return text === '' ? [] : [{ type, text }];
}

/** How many characters at the end of the text may be the beginning of the closing tag. */
function tagBeginning(text: string): number {
  for (let length = Math.min(text.length, closing.length - 1); length > 0; length -= 1) {
    if (closing.startsWith(text.slice(-length))) return length;
  }
  return 0;
}
