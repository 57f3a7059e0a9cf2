/** No process can be watched, or not this one; says what to do about it. */
export class NothingToWatch extends Error {
  override readonly name = 'NothingToWatch';
  readonly code = 'nothing_to_watch';
}
