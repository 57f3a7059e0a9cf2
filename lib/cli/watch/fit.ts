import type { Paint, Style } from '../paint.js';

/** A part of a line, and how it is painted. */
export type Piece = string | readonly [style: Style, text: string];

/** Puts the parts of a line together, cut to a width before it is painted. */
export function fit(pieces: readonly Piece[], width: number, paint: Paint): string {
  let left = width;
  return pieces.map((piece) => {
    const [style, given] = typeof piece === 'string' ? [undefined, piece] : piece;
    // Names come from another process: no control code of theirs reaches the terminal.
    const text = given.replace(/\p{Cc}/gu, ' ').slice(0, left);
    left -= text.length;
    return style === undefined || text === '' ? text : paint(style, text);
  }).join('').trimEnd();
}

/** A text in a column, cut so that a blank stays before the next one. */
export function cell(text: string, width: number): string {
  return (text.length < width ? text : `${text.slice(0, width - 2)}…`).padEnd(width);
}
