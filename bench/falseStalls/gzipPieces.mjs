import { constants, createGzip } from 'node:zlib';

/** The texts as pieces of one gzip stream, each of which can be unpacked when it is there. All who begin at the first can be sent the same ones. */
export async function gzipPieces(texts) {
  const gzip = createGzip();
  const pieces = [];
  for (const text of texts) {
    gzip.write(text);
    await new Promise((resolve) => gzip.flush(constants.Z_SYNC_FLUSH, resolve));
    pieces.push(gzip.read());
  }
  return pieces;
}
