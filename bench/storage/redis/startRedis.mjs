import { spawn } from 'node:child_process';
import { freePort } from '../freePort.mjs';

/** A redis-server of its own on a free port, which keeps nothing on disk and ends with this process. */
export async function startRedis() {
  const port = await freePort();
  const server = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], { stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => server.kill('SIGKILL'));
  await new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(new Error('There is no redis-server on the path: install it (apt-get install -y redis-server).', { cause })));
    server.once('exit', (code) => reject(new Error(`redis-server on port ${port} ended with ${code} before it was ready.`)));
    server.stdout.on('data', (text) => { if (/ready to accept/i.test(text)) resolve(); });
  });
  return { port, pid: server.pid, url: `redis://127.0.0.1:${port}`, stop: () => server.kill() };
}
