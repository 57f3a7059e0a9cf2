import { oracles, plainPolicies } from '../policies.mjs';
import { predicted } from './predicted.mjs';

const hedged = (hedgeStallAfterS, { hedgeMaxBackups = 1, interTokenTimeoutS = 300 } = {}) => ({
  name: `polygateway ${hedgeStallAfterS}${interTokenTimeoutS < 300 ? `/${interTokenTimeoutS}` : ''} s${hedgeMaxBackups > 1 ? `, ${hedgeMaxBackups} backups` : ''}`,
  settings: { hedgeStallAfterS, hedgeMaxBackups },
  interTokenTimeoutMs: interTokenTimeoutS * 1000,
  rule: predicted({ stallAfterMs: hedgeStallAfterS * 1000, maxBackups: hedgeMaxBackups, interTokenTimeoutMs: interTokenTimeoutS * 1000 }),
});

const closed = (policies) => Object.entries(policies).map(([name, rule]) => ({ name, rule }));

/** `20/40 s`: with two sources a second backup needs one of them to be free again, so the watchdog ends what has been silent for 40 s. */
const freeing = hedged(20, { hedgeMaxBackups: 2, interTokenTimeoutS: 40 });

/** Who is compared, by the sources there are. Those with `settings` are played by the gateway itself; `rule` is the closed form. */
export const fields = [
  { sources: ['a', 'b'], contestants: [...closed(plainPolicies), hedged(20), hedged(10), hedged(5), freeing, ...closed(oracles)] },
  { sources: ['a', 'b', 'c'], contestants: [...closed(plainPolicies), hedged(20), hedged(20, { hedgeMaxBackups: 2 }), hedged(5, { hedgeMaxBackups: 2 }), ...closed(oracles)] },
];
