// Listens, and never accepts: with its backlog full the kernel drops what would connect.
import net from 'node:net';

const server = net.createServer();
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  process.send(server.address().port, () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30_000));
});
