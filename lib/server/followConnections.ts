import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface Connections {
  /** From now on each ends once it has nothing to answer. */
  endWhenAnswered(this: void): void;
  /** Ends all at once. */
  cut(this: void): void;
}

/** Knows the connections of a server and the answers that each still owes; one that closes takes those along. */
export function followConnections(server: Server): Connections {
  const owed = new Map<Socket, Set<ServerResponse>>();
  let isEnding = false;

  server.on('connection', (socket) => {
    const answers = new Set<ServerResponse>();
    owed.set(socket, answers);
    socket.once('close', () => {
      owed.delete(socket);
      answers.forEach(closeQueued);
    });
  });
  server.on('request', ({ socket }, response) => {
    const answers = owed.get(socket)?.add(response);
    response.once('close', () => {
      answers?.delete(response);
      if (isEnding && answers?.size === 0) socket.destroySoon();
    });
  });

  return {
    endWhenAnswered() {
      isEnding = true;
      for (const [socket, { size }] of owed) if (size === 0) socket.destroySoon();
    },
    cut: () => [...owed.keys()].forEach((socket) => socket.destroy()),
  };
}

/** Node tells only the answer whose turn it is that its connection has closed; one that queues behind it would be worked on for nobody. */
function closeQueued(response: ServerResponse): void {
  if (response.socket === null) response.destroy().emit('close');
}
