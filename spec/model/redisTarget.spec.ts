import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { resolveSettings } from '../../lib/config/resolveSettings.js';
import { settingsFromEnv } from '../../lib/config/settingsFromEnv.js';
import { parseRedisUrl } from '../../lib/model/redisTarget.js';
import type { RedisTarget } from '../../lib/model/redisTarget.js';
import { oneSource, problemsOf } from '../config/problemsOf.js';

const one: RedisTarget = { type: 'single', tls: false, hosts: [{ host: 'h', port: 6379 }], db: 0 };
const password = 'hidden-value';

describe('an address of Redis', () => {
  test.each<[string, Partial<RedisTarget>]>([
    ['redis://h', {}],
    ['redis://h/', {}],
    ['REDIS://h:6380', { hosts: [{ host: 'h', port: 6380 }] }],
    ['redis://h:6379/2', { db: 2 }],
    ['rediss://cache.example.com:65535/15', { tls: true, hosts: [{ host: 'cache.example.com', port: 65_535 }], db: 15 }],
    ['redis://127.0.0.1:1', { hosts: [{ host: '127.0.0.1', port: 1 }] }],
    ['redis://[::1]', { hosts: [{ host: '::1', port: 6379 }] }],
    ['rediss://[2001:db8::7]:7000/1', { tls: true, hosts: [{ host: '2001:db8::7', port: 7000 }], db: 1 }],
    ['redis://[::ffff:10.0.0.1]:7000', { hosts: [{ host: '::ffff:10.0.0.1', port: 7000 }] }],
  ])('%s is that of one server', (url, target) => {
    expect(parseRedisUrl(url)).toEqual({ ...one, ...target });
  });

  test.each<[string, Partial<RedisTarget>]>([
    ['redis://user:pass@h', { username: 'user', password: 'pass' }],
    ['redis://:pass@h', { password: 'pass' }],
    ['redis://us%3Aer:p%40ss%2Fw%25%23%3F@h', { username: 'us:er', password: 'p@ss/w%#?' }],
    ['redis://user:a:b@h', { username: 'user', password: 'a:b' }],
    ['redis://user:@h', { username: 'user', password: '' }],
    ['redis://%C3%A9:%E2%82%AC@h', { username: 'é', password: '€' }],
    ['redis://user:pass@[::1]:7000/3', { username: 'user', password: 'pass', hosts: [{ host: '::1', port: 7000 }], db: 3 }],
  ])('%s has a login, percent-encoded', (url, target) => {
    expect(parseRedisUrl(url)).toEqual({ ...one, ...target });
  });

  test('any user and any password arrive as they are', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'binary' }), fc.string({ unit: 'binary' }), (username, secret) => {
        expect(parseRedisUrl(`redis://${encodeURIComponent(username)}:${encodeURIComponent(secret)}@h`)).toEqual({ ...one, username, password: secret });
      }),
    );
  });

  test.each<[string, Partial<RedisTarget>]>([
    ['redis+cluster://a', { hosts: [{ host: 'a', port: 6379 }] }],
    ['redis+cluster://a:1,b,[::1]:3/', { hosts: [{ host: 'a', port: 1 }, { host: 'b', port: 6379 }, { host: '::1', port: 3 }] }],
    ['rediss+cluster://user:p%2Cw@a,b/0', { tls: true, username: 'user', password: 'p,w', hosts: [{ host: 'a', port: 6379 }, { host: 'b', port: 6379 }] }],
  ])('%s is that of a cluster', (url, target) => {
    expect(parseRedisUrl(url)).toEqual({ ...one, type: 'cluster', ...target });
  });

  test.each<[string, Partial<RedisTarget>]>([
    ['redis+sentinel://a/mymaster', { hosts: [{ host: 'a', port: 26_379 }] }],
    ['redis+sentinel://a:1,b/mymaster/4', { hosts: [{ host: 'a', port: 1 }, { host: 'b', port: 26_379 }], db: 4 }],
    ['rediss+sentinel://user:pass@a/my-master.1/', { tls: true, username: 'user', password: 'pass', hosts: [{ host: 'a', port: 26_379 }], master: 'my-master.1' }],
    ['redis+sentinel://a/7', { hosts: [{ host: 'a', port: 26_379 }], master: '7' }],
  ])('%s is that of sentinels, and names the master', (url, target) => {
    expect(parseRedisUrl(url)).toEqual({ ...one, type: 'sentinel', master: 'mymaster', ...target });
  });
});

const unreadable: readonly [string, string][] = [
  ['no scheme', `user:${password}@h:6379`],
  ['one slash', `redis:/user:${password}@h:6379`],
  ['a password without a user and a colon', `redis://${password}@h:6379`],
  ['another scheme', `http://user:${password}@h`],
  ['an unknown kind', `redis+ring://user:${password}@h`],
  ['no host', `redis://user:${password}@`],
  ['no host but a port', `redis://user:${password}@:6379`],
  ['port 0', `redis://user:${password}@h:0`],
  ['a port that is too high', `redis://user:${password}@h:65536`],
  ['a port that is none', `redis://user:${password}@h:six`],
  ['an IPv6 address without brackets', `redis://user:${password}@::1`],
  ['half a bracket', `redis://user:${password}@[::1`],
  ['a bracketed name', `redis://user:${password}@[host]`],
  ['a blank in a host', `redis://user:${password}@h h`],
  ['several hosts of one server', `redis://user:${password}@a,b`],
  ['an empty place among hosts', `redis+cluster://user:${password}@a,,b`],
  ['a database that is no number', `redis://user:${password}@h/one`],
  ['a negative database', `redis://user:${password}@h/-1`],
  ['two databases', `redis://user:${password}@h/1/2`],
  ['a database of a cluster', `redis+cluster://user:${password}@a/1`],
  ['sentinels without a master', `redis+sentinel://user:${password}@a`],
  ['sentinels with a slash and no master', `redis+sentinel://user:${password}@a/`],
  ['sentinels with a database that is no number', `redis+sentinel://user:${password}@a/m/x`],
  ['sentinels with more than a database', `redis+sentinel://user:${password}@a/m/1/2`],
  ['a query', `redis://user:${password}@h/0?tls=true`],
  ['a fragment', `redis://user:${password}@h#0`],
  ['an @ that is not encoded', `redis://user:${password}@ss@h`],
  ['a percent sign that is not encoded', `redis://user:${password}%@h`],
];

describe('what is no address of Redis', () => {
  test.each([['nothing', ''], ['a scheme alone', 'redis://'], ['a host alone', 'h:6379'], ...unreadable])('%s', (_, url) => {
    expect(parseRedisUrl(url)).toBeUndefined();
  });

  test.each(unreadable)('BACKEND__URL refuses %s, says which forms there are, and shows no password', (_, url) => {
    const problems = problemsOf(() => settingsFromEnv('LLM', { ...oneSource, LLM__BACKEND__URL: url }));
    expect(problems).toEqual([expect.stringMatching(/^LLM__BACKEND__URL is ".*", which must be one of redis:\/\/host:6379\/0, redis\+cluster:\/\//)]);
    expect(problems[0]).not.toContain(password);
    const inCode = problemsOf(() => resolveSettings({ scope: 'LLM', backendUrl: url, sources: [{ provider: 'a', baseUrl: 'https://a.example/v1', model: 'm' }] }));
    expect(inCode).toEqual([expect.stringMatching(/^LLM__BACKEND__URL \(backendUrl\) .* must be one of redis:/)]);
    expect(inCode[0]).not.toContain(password);
  });

  test('BACKEND__URL takes what can be read as it stands', () => {
    const url = 'rediss+sentinel://user:p%40ss@a:1,[::1]/mymaster/2';
    expect(resolveSettings(settingsFromEnv('LLM', { ...oneSource, LLM__BACKEND__URL: ` "${url}"\n` })).settings).toMatchObject({ backendUrl: url });
    expect(settingsFromEnv('LLM', oneSource)).not.toHaveProperty('backendUrl');
  });
});
