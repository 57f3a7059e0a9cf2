// An upstream that is overloaded. Prints {"port":…} when it is ready.
import http from 'node:http';

const body = JSON.stringify({ error: { message: 'The server is overloaded.', type: 'server_error', code: null, param: null } });
const server = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(503, { 'content-type': 'application/json' }).end(body));
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));
process.on('disconnect', () => process.exit(0));
