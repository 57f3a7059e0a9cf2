// Makes the call that it is told to make, each in its own time; tells what became of them, oldest first, whenever it is asked.
import { openGateway } from './openGateway.mjs';

const { name, ...options } = JSON.parse(process.argv[2]);
const gateway = openGateway(options);
const calls = [];
const events = [];
gateway.events$.subscribe(({ type, retryAfterMs }) => events.push({ type, retryAfterMs }));

async function call(ask) {
  const told = { outcome: 'running' };
  calls.push(told);
  try {
    await gateway.chat({ messages: [{ role: 'user', content: JSON.stringify({ by: name, tokens: 10, ...ask }) }], max_tokens: 100 });
    told.outcome = 'ok';
  } catch ({ code, retryAfterS, message }) {
    Object.assign(told, { outcome: code, retryAfterS, message });
  }
}

process.send({ pid: process.pid });
process.on('message', (message) => {
  const { call: ask, times = 1, thenStop = false } = JSON.parse(message);
  if (ask !== undefined) for (let i = 0; i < times; i += 1) void call(ask);
  // Stops itself, since only then is it known that the question is on its way.
  if (thenStop) setTimeout(() => process.kill(process.pid, 'SIGSTOP'), 20);
  else process.send({ pid: process.pid, calls, events });
});
process.on('disconnect', () => process.exit());
