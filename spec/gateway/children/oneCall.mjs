// A script that makes one call with long limits and then has nothing left to do.
import { createGateway, settingsFromEnv } from 'polygateway';

const { url, databaseFile, closes } = JSON.parse(process.argv[2]);
const gateway = createGateway({
  settings: settingsFromEnv('LLM', {
    LLM__A__1__BASE_URL: url,
    LLM__A__1__MODEL: 'm',
    LLM__A__1__TTFT_TIMEOUT_S: '90',
    LLM__A__1__TIMEOUT_S: '300',
    LLM__B__1__BASE_URL: url,
    LLM__B__1__MODEL: 'm',
    LLM__CALL__DEADLINE_S: '600',
    LLM__HEDGE__AFTER_S: '60',
    LLM__HEDGE__STALL_AFTER_S: '60',
    LLM__TELEMETRY__URL: `sqlite:${databaseFile}`,
  }),
});
const { content } = await gateway.chat({ messages: [{ role: 'user', content: 'hello' }] });
if (closes) await gateway.close();
process.send({ content, atMs: Date.now() });
