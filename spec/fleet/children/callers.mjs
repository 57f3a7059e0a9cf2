// Many callers who call all the time, from `go` on; tells what became of their calls whenever it is asked.
import { openGateway } from './openGateway.mjs';

const { name, callers, serviceMs: [least, most], maxTokens, usedShare: [leastUsed, mostUsed] = [1, 1], ...options } = JSON.parse(process.argv[2]);
const gateway = openGateway(options);
const told = { pid: process.pid, answered: 0, failures: {}, waitsMs: [] };
gateway.events$.subscribe((event) => {
  if (event.type === 'call-waiting' && event.retryAfterMs !== null) told.waitsMs.push(event.retryAfterMs);
  if (event.type === 'backend-changed' || event.type === 'lease-lost') count(`event ${event.message ?? event.type}`);
});

const count = (what) => (told.failures[what] = (told.failures[what] ?? 0) + 1);
const between = (from, to) => Math.round(from + (to - from) * Math.random());

async function callAllTheTime() {
  for (;;) {
    const tokens = between(leastUsed * maxTokens, mostUsed * maxTokens);
    const content = JSON.stringify({ by: name, serviceMs: between(least, most), tokens });
    try {
      await gateway.chat({ messages: [{ role: 'user', content }], max_tokens: maxTokens });
      told.answered += 1;
    } catch (error) {
      count(error.message);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

process.send(told);
process.on('message', (message) => {
  if (message === 'go') for (let i = 0; i < callers; i += 1) void callAllTheTime();
  else process.send(told);
});
process.on('disconnect', () => process.exit());
