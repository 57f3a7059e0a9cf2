import { connect } from 'node:net';
import type { Socket } from 'node:net';

export interface RawAnswer {
  /** All that came, head included. */
  readonly text: string;
  readonly status: number | null;
  readonly ms: number;
}

/** Writes bytes to a port and reads until the other side ends the connection, or until `enough` says so. */
export function sendRaw(port: number, bytes: string | Buffer, { enough = () => false, idleMs = 10_000 }: { enough?: (text: string) => boolean; idleMs?: number } = {}): Promise<RawAnswer> {
  const startMs = performance.now();
  return new Promise((resolve) => {
    const socket: Socket = connect(port, '127.0.0.1');
    let text = '';
    const end = (): void => {
      socket.destroy();
      const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(text) ?? [];
      resolve({ text, status: status === undefined ? null : Number(status), ms: performance.now() - startMs });
    };
    socket.setTimeout(idleMs, end);
    socket.on('error', end).on('close', end).on('end', end);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (enough(text)) end();
    });
    socket.write(bytes);
  });
}

/** The JSON body of an answer that has a length. */
export function bodyOf({ text }: RawAnswer): unknown {
  return JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4));
}
