import { TimelineError } from './timelineError.js';

/** Walks over a text from left to right. */
export interface Scanner {
  readonly position: number;
  readonly ended: boolean;
  /** What the pattern (a sticky one) matches here, and steps over it; `undefined` if it does not match. */
  readonly take: (pattern: RegExp) => string | undefined;
  readonly sees: (start: string) => boolean;
  /** Throws `TimelineError`: what was expected, here or at `position`, and what stands there. */
  readonly refuse: (expected: string, position?: number) => never;
}

export function createScanner(text: string): Scanner {
  let at = 0;
  return {
    get position() {
      return at;
    },
    get ended() {
      return at === text.length;
    },
    take(pattern) {
      pattern.lastIndex = at;
      const found = pattern.exec(text)?.[0];
      at += found?.length ?? 0;
      return found;
    },
    sees: (start) => text.startsWith(start, at),
    refuse(expected, position = at) {
      const found = /^\S{1,20}/.exec(text.slice(position))?.[0];
      throw new TimelineError(`expected ${expected}; found ${found ?? 'the end'}`, { place: { text, position } });
    },
  };
}
