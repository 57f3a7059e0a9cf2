import type { Duplex } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { SourceError, TransientError } from '../model/errors.js';
import type { AttemptError } from '../model/errors.js';

/** Turns the bytes of a body into text, decompressed where the response says so. */
export interface BodyText {
  write(bytes: Buffer): void;
  /** No more bytes come; `onEnd` follows when all text is out. */
  end(): void;
  /** While held, what is decompressed waits. */
  hold(held: boolean): void;
  close(): void;
}

export interface BodyTextOptions {
  /** The `content-encoding`; several are separated by commas, in the order in which they were applied. */
  readonly encoding?: string | undefined;
  readonly onText: (text: string) => void;
  readonly onEnd: () => void;
  readonly onError: (error: AttemptError) => void;
}

/** Throws `SourceError` for an encoding that cannot be undone: we never offer any. */
export function createBodyText(options: BodyTextOptions): BodyText {
  const { encoding = '', onError } = options;
  const encodings = encoding.toLowerCase().split(',').map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity');
  // The last encoding applied is the first to be undone, so the outermost reader is made last.
  return encodings.reduce<BodyText>((next, name) => decompressed(name, next, onError), new PlainText(options));
}

const firstOfMany = 0x80;

/** A class, since one is held for each stream; and a decoder only where a piece ends within a character. */
class PlainText implements BodyText {
  private decoder: StringDecoder | undefined;
  private readonly options: BodyTextOptions;

  constructor(options: BodyTextOptions) {
    this.options = options;
  }

  write(bytes: Buffer): void {
    if (this.decoder === undefined && (bytes[bytes.length - 1] ?? 0) < firstOfMany) {
      this.options.onText(bytes.toString('utf8'));
      return;
    }
    this.decoder ??= new StringDecoder('utf8');
    this.options.onText(this.decoder.write(bytes));
  }

  end(): void {
    const rest = this.decoder?.end() ?? '';
    if (rest !== '') this.options.onText(rest);
    this.options.onEnd();
  }

  // Nothing of it waits here.
  hold(): void {}

  close(): void {}
}

function decompressed(encoding: string, next: BodyText, onError: BodyTextOptions['onError']): BodyText {
  let stream: Duplex | undefined;
  let isHeld = false;

  function open(first: Buffer): Duplex {
    const opened = decompressor(encoding, first);
    opened.on('data', (bytes: Buffer) => next.write(bytes));
    opened.on('end', () => next.end());
    if (isHeld) opened.pause();
    opened.on('error', (cause) => onError(new TransientError(`the ${encoding} body cannot be decompressed`, { cause })));
    return opened;
  }

  if (!known.has(encoding)) throw new SourceError(`the body is encoded as ${encoding.slice(0, 40)}, which was not asked for`);
  return {
    write: (bytes) => void (stream ??= open(bytes)).write(bytes),
    end: () => (stream === undefined ? next.end() : void stream.end()),
    hold(held) {
      isHeld = held;
      if (held) stream?.pause();
      else stream?.resume();
    },
    close() {
      stream?.destroy();
      next.close();
    },
  };
}

const known = new Set(['gzip', 'x-gzip', 'deflate', 'br']);

function decompressor(encoding: string, first: Buffer): Duplex {
  if (encoding === 'br') return createBrotliDecompress();
  if (encoding !== 'deflate') return createGunzip();
  // "deflate" means zlib's format, yet some servers send the raw one; the first byte tells.
  return ((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw();
}
