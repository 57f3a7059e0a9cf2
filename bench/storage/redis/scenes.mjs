/** What an upstream answers at once, whole and right. */
export const answer = 'open@0 d@0"ok" f@0 u(8,1)';

// Set and counted, but none binds.
const limits = { maxConcurrency: 1000, rpm: 1e7, tpm: 1e10 };
const never = 1e9;

/**
 * What becomes of a call: the scripts that each source plays by turns, settings and limits, how many calls run at once, and what every call
 * must have been in the end.
 */
export const scenes = {
  plain: { sources: [[answer]], limits, atOnce: 1, was: { attempts: 1, hedges: 0 } },
  hedged: { sources: [['open@0 d@0"o" hang'], [answer]], limits, atOnce: 1, settings: { hedgeStallAfterS: 0.02 }, was: { attempts: 2, hedges: 1 } },
  retried: { sources: [['503@0', answer]], limits, atOnce: 1, settings: { backoffS: 0.001, breakerFailures: never, breakerMinCalls: never }, was: { attempts: 2, hedges: 0 } },
  'waiting, 4 for 1 place': { sources: [['open@0 d@0.02"ok" f@0.02 u(8,1)']], limits: { ...limits, maxConcurrency: 1 }, atOnce: 4, was: { attempts: 1, hedges: 0 } },
};
