// Stores one row with the built library, and ends without closing anything if asked to: node writeRow.mjs FILE-OR-POSTGRES-URL ID [no-close]
import { asyncScheduler } from 'rxjs';
import { batched } from '../../dist/telemetry/delivery.js';
import { createPostgresSink } from '../../dist/telemetry/postgresSink.js';
import { createRecorder } from '../../dist/telemetry/recorder.js';
import { createSqliteSink } from '../../dist/telemetry/sqliteSink.js';

const [database, id, ending] = process.argv.slice(2);
const record = {
  id, callId: 'c', scope: 'LLM', round: 1, role: 'primary', hedgeTrigger: null, source: 's/1', provider: 's', model: 'm', streamed: true,
  outcome: 'ok', errorClass: null, errorMessage: null, httpStatus: 200, retryAfterMs: null, finishReason: 'stop', providerRequestId: null,
  won: true, waitedMs: 0, ttftMs: 1, latencyMs: 2, maxInterTokenMs: null, increments: 1, usage: null, estimatedTokens: null, tags: null,
  recordGaps: [], loopLagMs: null, startedMs: 0, endedMs: 2, stallMs: 5, stallCount: 1,
};
const report = ({ message }) => process.stderr.write(`${message}\n`);
const sink = database.startsWith('postgres') ? createPostgresSink({ url: database }) : createSqliteSink({ file: database });
const recorder = createRecorder({ sink, report, scheduler: asyncScheduler, delivery: batched });
recorder.record([record]);
if (ending !== 'no-close') await recorder.close();
