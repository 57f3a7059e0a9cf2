import { refuse } from '../support/options.mjs';

/**
 * Each in a module of its own that exports `open() -> { call(baseUrl, onText), close() }`: `call` is one streamed completion, tells each delta's
 * content and resolves at the end; `close` fails if not all was as it should be. `whole`: it tells the whole content at once.
 */
export const contestants = {
  floor: { file: 'floor.mjs' },
  openai: { file: 'openai.mjs', peer: true },
  'ai + openai-compatible': { file: 'aiSdk.mjs', peer: true },
  '@langchain/openai': { file: 'langChain.mjs', peer: true },
  'polygateway operators only': { file: 'operatorsOnly.mjs' },
  'polygateway stream$': { file: 'gatewayStream.mjs', ours: true },
  'polygateway chat$': { file: 'gatewayChat.mjs', ours: true, whole: true },
};

/** A word of the name is enough: `chat$`, `ai`, `langchain`. */
export function contestantNamed(text) {
  const names = Object.keys(contestants);
  const found = names.find((name) => name === text) ?? names.find((name) => name.split(/[ @/]/).includes(text)) ?? names.find((name) => name.includes(text));
  return found ?? refuse(`There is no contestant '${text}'. There are: ${names.join(', ')}.`);
}

export const openContestant = async (name) => (await import(`./contestants/${contestants[name].file}`)).open();
