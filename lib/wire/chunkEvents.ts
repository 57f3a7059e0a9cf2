import type { StreamItem } from '../model/streamItem.js';
import { createChatChunks } from './chatChunks.js';
import type { ChunkHead } from './chatChunks.js';
import { usageBody } from './usageBody.js';

/** Writes an answer as the events of OpenAI's stream, one chunk for each frame of the source that brought something. */
export interface ChunkEvents {
  add(this: void, item: StreamItem): void;
  /** The events of all that was added since the last time. */
  take(this: void): string;
}

export interface ChunkEventsOptions {
  /** A last chunk tells the tokens, if they are known. */
  readonly wantsUsage: boolean;
}

export function createChunkEvents({ wantsUsage }: ChunkEventsOptions): ChunkEvents {
  const ending = wantsUsage ? ',"usage":null}' : '}';
  let written: ChunkHead | undefined;
  let beginning = '';
  let text = '';

  /** Made once for all chunks of a stream, since only what the frames bring differs. */
  function begin(head: ChunkHead): string {
    if (head !== written) beginning = `data: ${JSON.stringify(head).slice(0, -1)},"choices":[`;
    written = head;
    return beginning;
  }

  const chunks = createChatChunks({
    choice(head, choice) {
      text += `${begin(head)}${JSON.stringify(choice)}]${ending}\n\n`;
    },
    end(head, usage) {
      if (wantsUsage && usage !== null) text += `${begin(head)}],"usage":${JSON.stringify(usageBody(usage))}}\n\n`;
      text += 'data: [DONE]\n\n';
    },
  });

  return {
    add: chunks.add,
    take() {
      chunks.flush();
      const taken = text;
      text = '';
      return taken;
    },
  };
}
