import { createServer } from 'node:net';

// Below the range from which the kernel takes the ports of outgoing connections: otherwise a client that knocks at a
// killed server again and again may be given that very port, and would be connected to itself.
const firstPort = 16_000;
const lastPort = 31_999;

/** A port of the loopback on which nobody listens at this moment. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = firstPort + Math.floor(Math.random() * (lastPort - firstPort + 1));
    if (await canListen(port)) return port;
  }
  throw new Error(`No port between ${firstPort} and ${lastPort} of 127.0.0.1 is free.`);
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => void server.close(() => resolve(true)));
  });
}
