import { fork } from 'node:child_process';
import { once } from 'node:events';

const children = new Set();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** A process that is asked by name and answers once: `ask('seen')`. It ends with this one at the latest. */
export async function startChild(script, args, { execArgv = [], onMessage = () => undefined, onEnd = () => undefined } = {}) {
  const child = fork(script, args.map(String), { execArgv, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const waiting = new Map();
  let lastId = 0;
  children.add(child);
  child.on('message', (message) => {
    if (!('id' in message)) return onMessage(message);
    waiting.get(message.id)(message.answer);
    return waiting.delete(message.id);
  });
  child.once('exit', (code, signal) => {
    children.delete(child);
    onEnd(`${script} ended with ${code ?? signal}`);
  });
  const [hello] = await once(child, 'message');
  return {
    ...hello,
    ask: (name, given) => new Promise((resolve) => {
      lastId += 1;
      waiting.set(lastId, resolve);
      child.send({ id: lastId, name, given });
    }),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** The other side: runs what is asked for. */
export function answersTo(asked) {
  process.on('message', async ({ id, name, given }) => process.send({ id, answer: (await asked[name](given)) ?? null }));
  process.on('disconnect', () => process.exit());
}
