/** The command line asks for something that cannot be done; says what to write instead. */
export class WrongUse extends Error {
  override readonly name = 'WrongUse';
  readonly code = 'wrong_use';
}
