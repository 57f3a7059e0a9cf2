import { createParser } from 'eventsource-parser';

export interface SseFrame {
  data: string;
  event?: string | undefined;
}

/** Cuts a text that arrives in pieces into the frames of an event stream. */
export interface SseFrames {
  feed(this: void, text: string): void;
  /** The text has ended: a last frame without its blank line is handed out too. */
  end(this: void): void;
}

/** `onOversize` is called once when a frame grows over `maxChars` (default 16 MiB); nothing is read after it. */
export function createSseFrames({
  onFrame,
  onOversize,
  maxChars = 16 * 1024 * 1024,
}: {
  readonly onFrame: (frame: SseFrame) => void;
  readonly onOversize: () => void;
  readonly maxChars?: number;
}): SseFrames {
  let oversize = false;
  const parser = createParser({
    onEvent: onFrame,
    maxBufferSize: maxChars,
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') oversize = true;
    },
  });

  function feed(text: string): void {
    if (oversize) return;
    parser.feed(text);
    // `oversize` is set by the parser's callback, which the compiler cannot see.
    if (oversize as boolean) onOversize();
  }

  return { feed, end: () => feed('\n\n') };
}
