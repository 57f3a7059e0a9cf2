import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export interface Connections {
  /** From now on each ends once it has nothing to answer. */
  endWhenAnswered(this: void): void;
  /** Ends all at once. */
  cut(this: void): void;
}

/** Knows the connections of a server, and how many answers each still owes. */
export function followConnections(server: Server): Connections {
  const owed = new Map<Socket, number>();
  let isEnding = false;

  /** Those that have closed are not taken up again. */
  function owes(socket: Socket, more: number): void {
    const before = owed.get(socket);
    if (before === undefined) return;
    owed.set(socket, before + more);
    if (isEnding && before + more === 0) socket.destroySoon();
  }

  server.on('connection', (socket) => {
    owed.set(socket, 0);
    socket.once('close', () => owed.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    owes(socket, 1);
    response.once('close', () => owes(socket, -1));
  });

  return {
    endWhenAnswered() {
      isEnding = true;
      for (const [socket, count] of owed) if (count === 0) socket.destroySoon();
    },
    cut: () => [...owed.keys()].forEach((socket) => socket.destroy()),
  };
}
