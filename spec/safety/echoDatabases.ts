import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface EchoServer {
  readonly port: number;
  readonly told: () => string;
  close(): Promise<void>;
}

type Answer = (socket: Socket, heard: Buffer, first: boolean) => unknown;

async function start(answer: Answer): Promise<EchoServer> {
  const sockets = new Set<Socket>();
  let told = '';
  const server = createServer((socket) => {
    let first = true;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.on('data', (heard) => {
      told += heard.toString('latin1');
      answer(socket, heard, first);
      first = false;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    told: () => told,
    close: () => new Promise((resolve) => {
      for (const socket of sockets) socket.destroy();
      server.close(() => resolve());
    }),
  };
}

function oneLine(heard: Buffer): string {
  return heard.toString('latin1').replace(/[^\x20-\x7e]+/g, ' ');
}

/** Refuses every command in words that quote it, the password among them. */
export function startEchoRedis(): Promise<EchoServer> {
  return start((socket, heard) => {
    const commands = heard.toString('latin1').match(/^\*\d+\r\n/gm) ?? [];
    socket.write(commands.map(() => `-WRONGPASS no: ${oneLine(heard)}\r\n`).join(''));
  });
}

/** Asks for the password as it is, and refuses it in words that quote it. */
export function startEchoPostgres(): Promise<EchoServer> {
  return start((socket, heard, first) => {
    if (first) return socket.write(Buffer.from('520000000800000003', 'hex'));
    const fields = ['SFATAL', 'C28P01', `Mno: ${oneLine(heard)}`, `D${oneLine(heard)}`].map((field) => `${field}\0`).join('') + '\0';
    const length = Buffer.alloc(4);
    length.writeInt32BE(fields.length + 4);
    return socket.end(Buffer.concat([Buffer.from('E'), length, Buffer.from(fields, 'latin1')]));
  });
}
