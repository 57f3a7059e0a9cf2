import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importBuilt } from '../../support/places.mjs';
import { apiKey, model, perBaseUrl } from './request.mjs';

/** Two sources, every limit and signal on, rows to SQLite: the whole product. */
const settingsFor = (baseUrl, file) => ({
  scope: 'bench',
  sources: ['a', 'b'].map((provider, priority) => ({ provider, priority, baseUrl, model, apiKey, ttftTimeoutS: 120, interTokenTimeoutS: 30, timeoutS: 600 })),
  hedgeAfterS: 120,
  hedgeStallAfterS: 20,
  telemetryUrl: `sqlite:${file}`,
});

/** `callWith(gateway, onText)` is one call; `close` fails unless each call has left its row. */
export async function openGateways(callWith) {
  const { createGateway } = await importBuilt('index.js');
  const folder = mkdtempSync(join(tmpdir(), 'polygateway-bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'telemetry.db');
  const gatewayFor = perBaseUrl((baseUrl) => createGateway({ settings: settingsFor(baseUrl, file) }));
  let calls = 0;
  return {
    call(baseUrl, onText) {
      calls += 1;
      return callWith(gatewayFor(baseUrl), onText);
    },
    async close() {
      await Promise.all(gatewayFor.all().map((gateway) => gateway.close()));
      const rows = countRows(file);
      if (rows !== calls) throw new Error(`Telemetry has ${rows} rows after ${calls} calls: rows were lost, or the machine is so busy that calls were hedged.`);
    },
  };
}

function countRows(file) {
  const Database = createRequire(import.meta.url)('better-sqlite3');
  const database = new Database(file, { readonly: true });
  const table = database.prepare("select name from sqlite_master where type = 'table' and name like '%attempt%'").pluck().get();
  const rows = database.prepare(`select count(*) from ${table}`).pluck().get();
  database.close();
  return rows;
}
