import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** Stands between a client and a server of the loopback and spoils their talk on demand. */
export interface TcpProxy {
  readonly port: number;
  /** Client connections that are open now. */
  readonly connections: number;
  /** Takes the bytes of both directions and passes none on; connections stay open, also when the server closes them. */
  swallow(): void;
  /** Passes on again what comes from now on; `late` first passes on what was swallowed, which is lost otherwise. */
  flow(options?: { readonly late?: boolean }): void;
  /** Lets the next request through, throws its reply away and resets that connection; no other request may be under way on it. */
  dropNextReply(): void;
  /** Resets all connections. */
  cut(): void;
  stop(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly target: Socket;
  /** Its next reply is thrown away. */
  doomed: boolean;
}

/** Starts a proxy on a port of its own in front of a port of the loopback. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  const swallowed: (() => void)[] = [];
  let swallowing = false;
  let dropping = false;

  const pass = (to: Socket, bytes: Buffer): void => {
    const write = (): void => {
      if (to.writable) to.write(bytes);
    };
    if (swallowing) swallowed.push(write);
    else write();
  };
  const onRequest = (pair: Pair, bytes: Buffer): void => {
    if (dropping) pair.doomed = true;
    dropping = false;
    pass(pair.target, bytes);
  };
  const onReply = (pair: Pair, bytes: Buffer): void => {
    if (pair.doomed) reset(pair);
    else pass(pair.client, bytes);
  };
  const onConnection = (client: Socket): void => {
    const pair: Pair = { client: client.setNoDelay(true), target: connect(targetPort, '127.0.0.1').setNoDelay(true), doomed: false };
    pairs.add(pair);
    client.on('data', (bytes) => onRequest(pair, bytes)).on('error', ignore);
    client.on('close', () => {
      pairs.delete(pair);
      pair.target.end();
    });
    pair.target.on('data', (bytes) => onReply(pair, bytes)).on('error', ignore);
    pair.target.on('close', () => {
      if (!swallowing) client.end();
    });
  };
  const cut = (): void => pairs.forEach(reset);

  const server = createServer(onConnection);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return pairs.size;
    },
    swallow: () => void (swallowing = true),
    flow({ late = false } = {}) {
      swallowing = false;
      for (const write of swallowed.splice(0)) if (late) write();
      for (const { client, target } of pairs) if (target.destroyed) client.end();
    },
    dropNextReply: () => void (dropping = true),
    cut,
    async stop() {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      cut();
      await closed;
    },
  };
}

function reset({ client, target }: Pair): void {
  client.resetAndDestroy();
  target.destroy();
}

function ignore(): void {
  // A broken connection is what a proxy is asked for; its 'close' follows.
}
