import { concatMap, defer } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import type { StreamItem } from '../model/streamItem.js';
import { createChatChunks } from './chatChunks.js';
import type { ChatCompletionChunk } from './chatChunks.js';
import { wholeUsageBody } from './usageBody.js';

/** What chunks hold beside the answer. */
export interface ChunkOptions {
  /** A last chunk without a choice tells the tokens, if all their numbers are known; default `false`. */
  readonly includeUsage?: boolean;
}

/**
 * Turns what `stream$` passes on into OpenAI's `chat.completion.chunk`s, for code that is written for the `openai` package.
 *
 *     items:   (sab)--c--(e|)        s = start, a and b one frame, e = end
 *     chunks:  (ab)---c--(e|)        each as it comes; the last one has the finish reason
 *
 * A tool call whose provider gave no id has the same made one as in the answer; where the provider's comes only after the call's
 * first fragment, the chunks keep the made one and `response` has the provider's.
 *
 * Errors pass through: a stream that breaks off has no finish reason. Unsubscribing stops the source.
 *
 *     gateway.stream$(request).pipe(toChatCompletionChunks()).subscribe(({ choices }) => {
 *       process.stdout.write(choices[0]?.delta.content ?? '');
 *     });
 */
export function toChatCompletionChunks({ includeUsage = false }: ChunkOptions = {}): OperatorFunction<StreamItem, ChatCompletionChunk> {
  return (item$) =>
    defer(() => {
      const untold = includeUsage ? { usage: null } : {};
      let written: ChatCompletionChunk[] = [];
      const chunks = createChatChunks({
        choice: (head, choice) => written.push({ ...head, choices: [choice], ...untold }),
        end: (head, tokens) => {
          const { usage } = wholeUsageBody(tokens);
          if (includeUsage && usage !== undefined) written.push({ ...head, choices: [], usage });
        },
      });
      return item$.pipe(
        concatMap((item) => {
          chunks.add(item);
          // Not only when its frame has ended, which the next one tells.
          chunks.flush();
          const taken = written;
          written = [];
          return taken;
        }),
      );
    });
}
