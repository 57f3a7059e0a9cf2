const leastRoom = 256;

/**
 * A text that grows by pieces for as long as a stream lives. Its characters stand in a buffer outside the heap: a string to which
 * is added keeps every piece as an object until it is read, and the garbage collector moves each of them twice. One byte
 * for each character while all are Latin, else two, as in a string, so that every text comes out as it came in.
 */
export class GrowingText {
  length = 0;
  private isWide = false;
  private bytes = nothing;

  add(piece: string): void {
    for (let at = 0; at < piece.length && !this.isWide; at += 1) if (piece.charCodeAt(at) > 0xff) this.widen();
    this.makeRoom(this.length + piece.length);
    const { bytes, length, isWide } = this;
    for (let at = 0; at < piece.length; at += 1) {
      const code = piece.charCodeAt(at);
      if (isWide) {
        bytes[2 * (length + at)] = code & 0xff;
        bytes[2 * (length + at) + 1] = code >> 8;
      } else bytes[length + at] = code;
    }
    this.length += piece.length;
  }

  toString(): string {
    return this.isWide ? this.bytes.toString('utf16le', 0, 2 * this.length) : this.bytes.toString('latin1', 0, this.length);
  }

  private widen(): void {
    this.bytes = Buffer.from(this.toString(), 'utf16le');
    this.isWide = true;
  }

  private makeRoom(length: number): void {
    const { bytes } = this;
    const needed = this.isWide ? 2 * length : length;
    if (needed <= bytes.length) return;
    this.bytes = Buffer.alloc(Math.max(leastRoom, needed, 2 * bytes.length));
    this.bytes.set(bytes);
  }
}

const nothing = Buffer.alloc(0);
