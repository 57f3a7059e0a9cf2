import { headers, jsonObject } from './jsonKinds.js';
import type { Kind } from './kind.js';
import { choice, count, flag, milliseconds, rank, seconds, share, weight } from './plainKinds.js';
import { httpUrl, line, redisUrl, secretKey, telemetryDatabase, watchPlace } from './textKinds.js';

/** One row of the tables below, from which keys, fields, types, defaults and documentation all come. */
export interface Setting<T = unknown, D = unknown> {
  /** The env key behind `<SCOPE>__` or `<SCOPE>__<PROVIDER>__<N>__`. */
  readonly key: string;
  readonly kind: Kind<T>;
  /** The default; without one the field stays absent. */
  readonly fallback: D;
  /** What absence means, where there is no default. */
  readonly absent?: string;
  readonly required?: true;
  readonly what: string;
}

export type SettingsTable = Readonly<Record<string, Setting>>;

export const scopeSettings = {
  /**
   * A gap between two increments counts as stalled when it is longer than this, in ms. Changes figures only, never
   * behaviour. Default: 1000.
   */
  stallThresholdMs: setting({
    key: 'STREAM__STALL_THRESHOLD_MS',
    kind: milliseconds,
    fallback: 1000,
    what: 'A gap between two increments counts as stalled when it is longer than this, in ms. Changes figures only, never behaviour.',
  }),
  /** Starts a backup when the first increment has not come after this, in s. Default: off. */
  hedgeAfterS: setting({
    key: 'HEDGE__AFTER_S',
    kind: seconds,
    absent: 'off',
    what: 'Starts a backup when the first increment has not come after this, in s.',
  }),
  /** Starts a backup when a stream that has begun is silent for this, in s. Trades quota for latency. Default: off. */
  hedgeStallAfterS: setting({
    key: 'HEDGE__STALL_AFTER_S',
    kind: seconds,
    absent: 'off',
    what: 'Starts a backup when a stream that has begun is silent for this, in s. Trades quota for latency.',
  }),
  /** Caps backups to this share of the calls, with up to 3 in a burst, so that a general outage is not doubled. Default: no cap. */
  hedgeMaxRatio: setting({
    key: 'HEDGE__MAX_RATIO',
    kind: share,
    absent: 'no cap',
    what: 'Caps backups to this share of the calls, with up to 3 in a burst, so that a general outage is not doubled.',
  }),
  /** Backups that one round may start; each further one when all that run have been silent for HEDGE__STALL_AFTER_S. Default: 1. */
  hedgeMaxBackups: setting({ key: 'HEDGE__MAX_BACKUPS', kind: count, fallback: 1, what: 'Backups that one round may start; each further one when all that run have been silent for HEDGE__STALL_AFTER_S.' }),
  /** Rounds a call may burn on transient failures; a hedged round counts once. Default: 3. */
  maxAttempts: setting({
    key: 'RETRY__MAX_ATTEMPTS',
    kind: count,
    fallback: 3,
    what: 'Rounds a call may burn on transient failures; a hedged round counts once.',
  }),
  /** First backoff after a failure, in s; it doubles, with jitter. Default: 0.5. */
  backoffS: setting({ key: 'RETRY__BACKOFF_S', kind: seconds, fallback: 0.5, what: 'First backoff after a failure, in s; it doubles, with jitter.' }),
  /** Longest backoff, in s. Default: 30. */
  backoffMaxS: setting({ key: 'RETRY__BACKOFF_MAX_S', kind: seconds, fallback: 30, what: 'Longest backoff, in s.' }),
  /** Bounds the whole call, waits included, in s. Default: none. */
  callDeadlineS: setting({ key: 'CALL__DEADLINE_S', kind: seconds, absent: 'none', what: 'Bounds the whole call, waits included, in s.' }),
  /** What a call does when no source may be asked now: wait, or fail_fast. Default: wait. */
  backpressure: setting({
    key: 'BACKPRESSURE__MODE',
    kind: choice('wait', 'fail_fast'),
    fallback: 'wait',
    what: 'What a call does when no source may be asked now: wait, or fail_fast.',
  }),
  /**
   * A call is given up when it has waited longer than this, in s, and nobody of its scope was answered for as long. Time
   * inside an attempt does not count, so it does not bound a call. Not below TTFT_TIMEOUT_S. Default: 300.
   */
  stallWindowS: setting({
    key: 'BACKPRESSURE__STALL_WINDOW_S',
    kind: seconds,
    fallback: 300,
    what:
      'A call is given up when it has waited longer than this, in s, and nobody of its scope was answered for as long. ' +
      'Time inside an attempt does not count, so it does not bound a call. Not below TTFT_TIMEOUT_S.',
  }),
  /** How often a waiting call looks again, in s, with jitter. Default: 0.5. */
  pollS: setting({ key: 'BACKPRESSURE__POLL_S', kind: seconds, fallback: 0.5, what: 'How often a waiting call looks again, in s, with jitter.' }),
  /** Failures in a row that open the breaker of a source; a 429 is none. Default: 5. */
  breakerFailures: setting({ key: 'BREAKER__FAILURES', kind: count, fallback: 5, what: 'Failures in a row that open the breaker of a source; a 429 is none.' }),
  /** First cool-down of an open breaker, in s; it doubles with each opening, up to the longest. Default: 30. */
  breakerCooldownS: setting({ key: 'BREAKER__COOLDOWN_S', kind: seconds, fallback: 30, what: 'First cool-down of an open breaker, in s; it doubles with each opening, up to the longest.' }),
  /** Longest cool-down, in s. Default: 300. */
  breakerCooldownMaxS: setting({ key: 'BREAKER__COOLDOWN_MAX_S', kind: seconds, fallback: 300, what: 'Longest cool-down, in s.' }),
  /** Share of failures in the window that opens the breaker. Default: 0.5. */
  breakerRatio: setting({ key: 'BREAKER__RATIO', kind: share, fallback: 0.5, what: 'Share of failures in the window that opens the breaker.' }),
  /** Window of that share, in s. Default: 60. */
  breakerWindowS: setting({ key: 'BREAKER__WINDOW_S', kind: seconds, fallback: 60, what: 'Window of that share, in s.' }),
  /** Calls in the window below which the share is not looked at. Default: 10. */
  breakerMinCalls: setting({ key: 'BREAKER__MIN_CALLS', kind: count, fallback: 10, what: 'Calls in the window below which the share is not looked at.' }),
  /**
   * Which source is asked first among those of equal PRIORITY: priority, round_robin, weighted, least_busy, or steady
   * (silent least of late). Default: priority.
   */
  selectStrategy: setting({
    key: 'SELECT__STRATEGY',
    kind: choice('priority', 'round_robin', 'weighted', 'least_busy', 'steady'),
    fallback: 'priority',
    what: 'Which source is asked first among those of equal PRIORITY: priority, round_robin, weighted, least_busy, or steady (silent least of late).',
  }),
  /** How long a permit outlives a process that died, in s. Default: 15. */
  backendLeaseTtlS: setting({ key: 'BACKEND__LEASE_TTL_S', kind: seconds, fallback: 15, what: 'How long a permit outlives a process that died, in s.' }),
  /**
   * Shares admission state across processes: redis://host:6379, redis+cluster://host,host or
   * redis+sentinel://host,host/master; rediss for TLS. Default: in memory.
   */
  backendUrl: setting({
    key: 'BACKEND__URL',
    kind: redisUrl,
    absent: 'in memory',
    what: 'Shares admission state across processes: redis://host:6379, redis+cluster://host,host or redis+sentinel://host,host/master; rediss for TLS.',
  }),
  /** Where the row of every attempt goes: sqlite: and a file, such as sqlite:./telemetry.db, or a postgres:// URL. Default: off. */
  telemetryUrl: setting({
    key: 'TELEMETRY__URL',
    kind: telemetryDatabase,
    absent: 'off',
    what: 'Where the row of every attempt goes: sqlite: and a file, such as sqlite:./telemetry.db, or a postgres:// URL.',
  }),
  /** Whether the table is made and migrated for you (auto) or by SQL that you run (manual). Default: auto. */
  telemetrySchema: setting({
    key: 'TELEMETRY__SCHEMA',
    kind: choice('auto', 'manual'),
    fallback: 'auto',
    what: 'Whether the table is made and migrated for you (auto) or by SQL that you run (manual).',
  }),
  /** Whether requests to sources carry the trace (traceparent) where OpenTelemetry is set up. Default: true. */
  telemetryPropagate: setting({
    key: 'TELEMETRY__PROPAGATE',
    kind: flag,
    fallback: true,
    what: 'Whether requests to sources carry the trace (traceparent) where OpenTelemetry is set up.',
  }),
  /** Lets `polygateway watch` of the same user look into this process: auto, or the path of a socket. Default: off. */
  telemetryWatch: setting({
    key: 'TELEMETRY__WATCH',
    kind: watchPlace,
    absent: 'off',
    what: 'Lets `polygateway watch` of the same user look into this process: auto, or the path of a socket.',
  }),
} as const satisfies SettingsTable;

export const sourceSettings = {
  /** Where the API begins, such as https://api.openai.com/v1; a query is kept. */
  baseUrl: setting({ key: 'BASE_URL', kind: httpUrl, required: true, what: 'Where the API begins, such as https://api.openai.com/v1; a query is kept.' }),
  /** The model asked for, in the words of the provider. */
  model: setting({ key: 'MODEL', kind: line, required: true, what: 'The model asked for, in the words of the provider.' }),
  /** The key, sent as a bearer token. Default: none sent. */
  apiKey: setting({ key: 'API_KEY', kind: secretKey, absent: 'none sent', what: 'The key, sent as a bearer token.' }),
  /**
   * How an OCR source is spoken to: over POST /ocr (openai, mistral), or as a chat request with the image (chat). Else
   * openai. Default: openai.
   */
  protocol: setting({ key: 'PROTOCOL', kind: choice('openai', 'mistral', 'chat'), fallback: 'openai', what: 'How an OCR source is spoken to: over POST /ocr (openai, mistral), or as a chat request with the image (chat). Else openai.' }),
  /** Bounds one attempt as a whole, in s. Default: 300. */
  timeoutS: setting({ key: 'TIMEOUT_S', kind: seconds, fallback: 300, what: 'Bounds one attempt as a whole, in s.' }),
  /** Longest wait for the first increment, in s. Default: 120. */
  ttftTimeoutS: setting({ key: 'TTFT_TIMEOUT_S', kind: seconds, fallback: 120, what: 'Longest wait for the first increment, in s.' }),
  /** Longest wait between two increments (chunks, not tokens), in s. Default: = TIMEOUT_S. */
  interTokenTimeoutS: setting({
    key: 'INTER_TOKEN_TIMEOUT_S',
    kind: seconds,
    absent: '= TIMEOUT_S',
    what: 'Longest wait between two increments (chunks, not tokens), in s.',
  }),
  /** Longest wait for a connection, in s. Default: 10. */
  connectTimeoutS: setting({ key: 'CONNECT_TIMEOUT_S', kind: seconds, fallback: 10, what: 'Longest wait for a connection, in s.' }),
  /** Requests a minute. Default: unlimited. */
  rpm: setting({ key: 'RPM', kind: count, absent: 'unlimited', what: 'Requests a minute.' }),
  /** Tokens a minute. Default: unlimited. */
  tpm: setting({ key: 'TPM', kind: count, absent: 'unlimited', what: 'Tokens a minute.' }),
  /** Requests in flight at once. Default: unlimited. */
  maxConcurrency: setting({ key: 'MAX_CONCURRENCY', kind: count, absent: 'unlimited', what: 'Requests in flight at once.' }),
  /** Embedding inputs in one request. Default: 128. */
  maxBatch: setting({ key: 'MAX_BATCH', kind: count, fallback: 128, what: 'Embedding inputs in one request.' }),
  /** Lower is asked first; equal ones in the order of the settings, which loaders of env files need not keep. Default: 0. */
  priority: setting({
    key: 'PRIORITY',
    kind: rank,
    fallback: 0,
    what: 'Lower is asked first; equal ones in the order of the settings, which loaders of env files need not keep.',
  }),
  /** Share of the calls under the strategy weighted. Default: 1. */
  weight: setting({ key: 'WEIGHT', kind: weight, fallback: 1, what: 'Share of the calls under the strategy weighted.' }),
  /** Headers sent with every request, as a JSON object of texts. Default: none. */
  headers: setting({ key: 'HEADERS', kind: headers, absent: 'none', what: 'Headers sent with every request, as a JSON object of texts.' }),
  /** Fields added to every request body, as a JSON object. Default: none. */
  extraBody: setting({ key: 'EXTRA_BODY', kind: jsonObject, absent: 'none', what: 'Fields added to every request body, as a JSON object.' }),
  /** Whether <think> in the content is split off as reasoning. Default: false. */
  thinkTags: setting({ key: 'THINK_TAGS', kind: flag, fallback: false, what: 'Whether <think> in the content is split off as reasoning.' }),
} as const satisfies SettingsTable;

/** One upstream: an endpoint, a key and a model. Fields, units and defaults are those of `describeSettings()`. */
export interface SourceSettings extends Given<typeof sourceSettings> {
  /** Groups sources of one upstream; the first part of the id. Case does not matter. */
  readonly provider: string;
  /** The second part of the id, from 1; by default the place among the sources of this provider. */
  readonly n?: number;
  /** Where the API begins, such as https://api.openai.com/v1; a query is kept. */
  readonly baseUrl: string;
  /** The model asked for, in the words of the provider. */
  readonly model: string;
}

/** Settings as written by hand or read from the environment; absent fields take the defaults of `describeSettings()`. */
export interface GatewaySettings extends Given<typeof scopeSettings> {
  /** Names the settings, the rows of telemetry and what a fleet shares. */
  readonly scope: string;
  /** Whom calls may ask; at least one, unless the gateway is given ports. */
  readonly sources: readonly SourceSettings[];
  /** What reading the environment had to tell; it travels into the findings of the gateway. */
  readonly notices?: readonly Finding[];
}

/** A source with every default applied. */
export interface ResolvedSource extends Filled<typeof sourceSettings> {
  /** `<provider>/<n>` in lower case. */
  readonly id: string;
  readonly provider: string;
  readonly baseUrl: string;
  readonly model: string;
  readonly interTokenTimeoutS: number;
}

/** Settings that were checked, with every default applied. */
export interface ResolvedSettings extends Filled<typeof scopeSettings> {
  readonly scope: string;
  readonly sources: readonly ResolvedSource[];
}

/** What the calls of a scope are for. */
export type Service = 'chat' | 'embedding' | 'ocr';

/** Something allowed that is probably not meant. */
export interface Finding {
  readonly level: 'warning';
  /** The C rule, or a word. */
  readonly rule: string;
  /** The env key concerned. */
  readonly key: string;
  /** What is odd, and what to do. */
  readonly message: string;
}

type ValueOf<S> = S extends Setting<infer T> ? T : never;
type Given<T extends SettingsTable> = { readonly [F in keyof T]?: ValueOf<T[F]> };
type HasDefault<T extends SettingsTable> = { [F in keyof T]: undefined extends T[F]['fallback'] ? never : F }[keyof T];
type Filled<T extends SettingsTable> = { readonly [F in HasDefault<T>]: ValueOf<T[F]> } & Given<Omit<T, HasDefault<T>>>;

type Row<T> = Omit<Setting<T>, 'fallback'>;

function setting<T>(row: Row<T> & { readonly fallback: NoInfer<T> }): Setting<T, T>;
function setting<T>(row: Row<T>): Setting<T, undefined>;
function setting<T>(row: Row<T> & { readonly fallback?: T }): Setting<T, T | undefined> {
  return { ...row, fallback: row.fallback };
}
