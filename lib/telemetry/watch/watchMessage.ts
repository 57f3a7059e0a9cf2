import type { BreakerPhase, Role } from '../../model/events.js';
import type { WatchEvent } from './watchEvent.js';

/** Raised with every change that an older viewer would misread. */
export const watchProtocol = 1;

/** The first line: who is watched, and what its figures are to be held against. */
export interface WatchHello {
  readonly type: 'hello';
  readonly protocol: number;
  readonly version: string;
  readonly scope: string;
  readonly pid: number;
  readonly host: string;
  /** A date; the gateway's clock showed `atMs` when this line was written at `sentAt`. */
  readonly startedAt: string;
  readonly sentAt: string;
  readonly atMs: number;
  readonly thresholds: WatchThresholds;
  readonly sources: readonly WatchedSource[];
}

/** `null`: off. */
export interface WatchThresholds {
  readonly stallThresholdMs: number;
  readonly hedgeAfterMs: number | null;
  readonly hedgeStallAfterMs: number | null;
}

export interface WatchedSource {
  readonly id: string;
  readonly model: string;
  readonly maxConcurrency: number | null;
}

/** An attempt in flight. */
export interface WatchedStream {
  readonly callId: string;
  readonly attemptId: string;
  readonly source: string;
  readonly role: Role;
  readonly round: number;
  readonly openMs: number;
  readonly silentMs: number;
  readonly increments: number;
}

/** What `stats()` of the gateway says. */
export interface WatchedStats {
  readonly calls: number;
  readonly attempts: number;
  readonly waiters: number;
  readonly streams: readonly WatchedStream[];
  readonly permits: Readonly<Record<string, number>>;
  readonly parked: Readonly<Record<string, number>>;
  readonly breakers: Readonly<Record<string, BreakerPhase>>;
  readonly paced: Readonly<Record<string, number>>;
}

/** A snapshot, several times a second. `missed`: events that this viewer was too slow for, so far. */
export interface WatchState extends WatchedStats {
  readonly type: 'state';
  readonly atMs: number;
  readonly missed: number;
  /** Of a great many streams only those that have been silent longest are named; how many more there are per source. */
  readonly unnamed: Readonly<Record<string, number>>;
}

/** One line of JSON each, in this order: `hello`, then `state` and `event`, and `bye` when the gateway is closed. */
export type WatchMessage = WatchHello | WatchState | { readonly type: 'event'; readonly event: WatchEvent } | { readonly type: 'bye' };

