// One call on each transport at once, and this process's own loop blocked once in the middle of them.
import diagnostics from 'node:diagnostics_channel';
import http from 'node:http';
import { once } from 'node:events';
import { createGateway } from 'polygateway';

const { servers, place, blockAfterMs, blockMs } = JSON.parse(process.argv[2]);

// Sleeps rather than spins: the servers' processes need the core.
const block = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs);
const hedgeStallAfterS = 1;
const source = (provider, baseUrl) => ({ provider, baseUrl, model: 'm', interTokenTimeoutS: 2 });
const request = { messages: [{ role: 'user', content: 'hello' }] };

const paths = { plain: `${servers.plain}/plain/v1`, tls: `${servers.secure}/plain/v1`, gzip: `${servers.plain}/gzip/v1` };
const calls = Object.entries(paths).map(([transport, url]) => {
  const rows = [];
  const settings = { scope: 'LLM', sources: [source('main', url), source('backup', `${servers.plain}/backup/v1`)] };
  return { transport, rows, gateway: createGateway({ settings, telemetry: { write: (written) => void rows.push(...written) }, hedgeStallAfterS, maxAttempts: 1 }) };
});
const side = createGateway({ settings: { scope: 'LLM', sources: [source('short', `${servers.plain}/short/v1`)] } });

// The upstream's short answer comes `blockAfterMs` after it was asked for, so `side` blocks then.
const blockIn = {
  'an event listener': () => {
    side.events$.subscribe(({ type }) => type === 'attempt-ended' && block());
    void side.chat(request);
  },
  'a microtask': () => void side.chat(request).then(block),
  'setImmediate': () => void setTimeout(() => setImmediate(block), blockAfterMs),
  'an unrelated response handler': () => void setTimeout(() => http.get(`${servers.plain}/ping`, (response) => { response.resume(); block(); }), blockAfterMs),
  'the data callback of plain': () => blockInData(servers.plain, '/plain/'),
  'the data callback of tls': () => blockInData(servers.secure, '/plain/'),
  'the data callback of gzip': () => blockInData(servers.plain, '/gzip/'),
};

function blockInData(origin, path) {
  const fromMs = performance.now() + blockAfterMs;
  const stop = onChunk((request) => {
    if (performance.now() < fromMs || request.origin !== origin || !request.path.startsWith(path)) return;
    stop();
    block();
  });
}

// Undici publishes each chunk in the turn in which it hands it on.
function onChunk(act) {
  const listener = ({ request }) => act(request);
  diagnostics.subscribe('undici:request:bodyChunkReceived', listener);
  return () => diagnostics.unsubscribe('undici:request:bodyChunkReceived', listener);
}

process.send('ready');
await once(process, 'message');
// What anybody would write first; it shows that there was something to be wrong about.
let plainTimerFired = 0;
const plainTimer = setTimeout(() => (plainTimerFired += 1), hedgeStallAfterS * 1000);
onChunk(({ path }) => path.startsWith('/plain/') && plainTimer.refresh());

const answers = calls.map(({ gateway }) => gateway.chat(request));
blockIn[place]();
const results = await Promise.all(
  answers.map(async (answer, i) => {
    const { transport, rows } = calls[i];
    const { content = '', error = null, stats } = await answer.catch((thrown) => ({ error: thrown.message }));
    return { transport, content, error, hedges: stats?.hedges ?? null, rows: rows.map(({ source, error_class, increments, loop_lag_ms }) => ({ source, error_class, increments, loop_lag_ms })) };
  }),
);
process.send({ results, plainTimerFired }, () => process.exit());
