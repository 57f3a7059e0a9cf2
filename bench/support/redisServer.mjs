import { spawn } from 'node:child_process';

/** A redis-server of our own on this port, ready, which keeps nothing on disk and ends with this process. */
export async function startRedisServer(port) {
  const server = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = () => server.kill('SIGKILL');
  process.once('exit', stop);
  server.once('exit', () => process.removeListener('exit', stop));
  await new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(new Error('There is no redis-server on the path: install it (apt-get install -y redis-server).', { cause })));
    server.once('exit', (code) => reject(new Error(`redis-server on port ${port} ended with ${code} before it was ready.`)));
    server.stdout.on('data', (text) => { if (/ready to accept/i.test(text)) resolve(); });
  });
  return server;
}
