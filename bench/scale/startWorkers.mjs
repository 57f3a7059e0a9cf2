import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('processWorker.mjs', import.meta.url));

/** So many processes with a gateway each, which have made their first calls; `run()` lets them go at once and answers what each of them did. */
export async function startWorkers(count, task) {
  const workers = Array.from({ length: count }, () => fork(script, [JSON.stringify(task)]));
  const stop = () => workers.forEach((worker) => worker.kill('SIGKILL'));
  process.once('exit', stop);
  await Promise.all(workers.map(answer));
  return {
    async run() {
      const answers = workers.map(answer);
      for (const worker of workers) worker.send('go');
      return Promise.all(answers);
    },
    stop() {
      process.removeListener('exit', stop);
      stop();
    },
  };
}

async function answer(worker) {
  const ended = once(worker, 'exit').then(([code]) => {
    throw new Error(`A process of the fleet ended with code ${code} before it had answered.`);
  });
  const [message] = await Promise.race([once(worker, 'message'), ended]);
  if (message.error !== undefined) throw new Error(message.error);
  return message;
}
