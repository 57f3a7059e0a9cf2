/** What happened is not what a marble diagram shows; the message draws both. */
export class MarbleMismatch extends Error {
  override readonly name = 'MarbleMismatch';
  readonly code = 'marble_mismatch';
}
