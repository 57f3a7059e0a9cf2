const two = ['a', 'b'];
const three = ['a', 'b', 'c'];
const stallAfter20 = { HEDGE__STALL_AFTER_S: 20 };

/**
 * Who takes part, and with what. Times are in seconds of the workload; each contestant's module scales them. What the numbers rest on
 * is in README.md.
 */
export const contestants = {
  openai: { module: 'openai', sources: ['a'] },
  'openai, watchdog 300 s': { module: 'openai', sources: ['a'], silenceS: 300 },
  'openai, watchdog 120 s': { module: 'openai', sources: ['a'], silenceS: 120 },
  'ai, chunkMs 20 s, second model': { module: 'ai', sources: two, silenceS: 20 },
  'ai, chunkMs 5 s, second model': { module: 'ai', sources: two, silenceS: 5 },
  'langchain, withFallbacks': { module: 'langchain', sources: two },
  'langchain, withFallbacks, timeout 120 s': { module: 'langchain', sources: two, timeoutS: 120 },
  'langchain, withFallbacks, chunk time-out 120 s *': { module: 'langchain', sources: two, silenceS: 120 },
  'polygateway stream$, 2 sources': { module: 'polygateway', sources: two, method: 'stream$', settings: { ...stallAfter20, HEDGE__AFTER_S: 5 } },
  'polygateway stream$, 3 sources': { module: 'polygateway', sources: three, method: 'stream$', settings: { ...stallAfter20, HEDGE__AFTER_S: 5 } },
  'polygateway chat$, 2 sources': { module: 'polygateway', sources: two, method: 'chat$', settings: stallAfter20 },
  'polygateway chat$, 3 sources': { module: 'polygateway', sources: three, method: 'chat$', settings: stallAfter20 },
  'polygateway chat$, 3 sources, 2 backups': { module: 'polygateway', sources: three, method: 'chat$', settings: { ...stallAfter20, HEDGE__MAX_BACKUPS: 2 } },
};

// Both keys, since a source that is silent altogether does not begin: the one for stalls alone would not see it.
const bothAfter20 = { ...stallAfter20, HEDGE__AFTER_S: 20 };
const twoBackups = { ...bothAfter20, HEDGE__MAX_BACKUPS: 2 };
const chat = (sources, settings) => ({ module: 'polygateway', sources, method: 'chat$', settings });

/** Who is shown in the general outage. 0.25 is a little above the share of calls that 20 s fires on, 0.1 below it. */
export const inOutage = {
  openai: contestants.openai,
  'ai, chunkMs 20 s, second model': contestants['ai, chunkMs 20 s, second model'],
  'polygateway, 2 sources, no cap': chat(two, bothAfter20),
  'polygateway, 2 sources, MAX_RATIO 0.25': chat(two, { ...bothAfter20, HEDGE__MAX_RATIO: 0.25 }),
  'polygateway, 2 sources, MAX_RATIO 0.1': chat(two, { ...bothAfter20, HEDGE__MAX_RATIO: 0.1 }),
  'polygateway, 3 sources, 2 backups, no cap': chat(three, twoBackups),
  'polygateway, 3 sources, 2 backups, MAX_RATIO 0.25': chat(three, { ...twoBackups, HEDGE__MAX_RATIO: 0.25 }),
};
