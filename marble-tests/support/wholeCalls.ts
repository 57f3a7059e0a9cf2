import { expect } from '@jest/globals';
import type { Observable } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import type { CallOptions } from '../../lib/gateway/calls.js';
import type { Policy } from '../../lib/gateway/ports.js';
import type { AttemptRecord, GatewayEvent } from '../../lib/model/events.js';
import type { ChatRequest } from '../../lib/model/request.js';
import { expectAtRest, expectRowPerRequest, heldBy } from './atRest.js';
import type { Held } from './atRest.js';
import { marbles } from './marbles.js';
import { pick } from './pick.js';
import { recordCall } from './recordedCall.js';
import type { RecordedCall, Told } from './recordedCall.js';
import { hello, virtualGateway } from './virtualGateway.js';
import type { GovernorSpec, SourceSpec, VirtualGateway } from './virtualGateway.js';

export interface CallSpec {
  /** When it is subscribed; default 0. */
  readonly atMs?: number;
  /** When the subscriber leaves. */
  readonly leaveMs?: number;
  /** When the caller's signal is aborted, with `reason`. */
  readonly abortMs?: number;
  readonly reason?: unknown;
  readonly request?: Partial<ChatRequest>;
}

/** What a call is to say: a marble diagram, `r` for the response, and of response or error the fields that matter. */
export interface ExpectedCall {
  toAnswer(this: void, diagram: string, fields?: object): void;
  toFail(this: void, diagram: string, fields: unknown): void;
  toSayNothing(this: void): void;
}

/** What a call that is passed on is to say: letters for items, of each the fields that matter. */
export interface ExpectedStream {
  toSay(this: void, diagram: string, items: Readonly<Record<string, object>>, error?: object): void;
}

export interface Stage {
  readonly scheduler: TestScheduler;
  gatewayOf(this: void, specs: readonly (string | SourceSpec)[], policy?: Partial<Policy> & GovernorSpec): VirtualGateway;
  expectCall(this: void, gateway: VirtualGateway, spec?: CallSpec): ExpectedCall;
  expectStream(this: void, gateway: VirtualGateway, spec?: CallSpec): ExpectedStream;
  /** Does something at a time of the test; `at(0)` is before the first call. */
  at(this: void, atMs: number, act: () => void): void;
  /** Runs to the end of virtual time. */
  flush(this: void): void;
}

/** A test of whole calls in virtual time. Whatever it is about: nothing may be left when its last call has ended (X1, X2). */
export function wholeCalls(body: (stage: Stage) => void): () => void {
  return marbles(({ scheduler, flush }) => {
    const gateways: VirtualGateway[] = [];
    const ownTimers = new Set<unknown>();
    const checks: (() => void)[] = [];
    let running = 0;

    const at: Stage['at'] = (atMs, act) => void ownTimers.add(scheduler.schedule(act, atMs - scheduler.now()));
    const held = (): Held => heldBy(gateways, scheduler, ownTimers);
    const onEnd = (): void => {
      running -= 1;
      if (running > 0) return;
      const left = held();
      checks.push(() => expectAtRest(left));
    };

    function record(ask: (request: ChatRequest, options: CallOptions) => Observable<unknown>, { atMs = 0, leaveMs, abortMs, reason, request }: CallSpec): () => readonly Told[] {
      let call: RecordedCall | undefined;
      const controller = new AbortController();
      const call$ = ask({ ...hello, ...request }, abortMs === undefined ? {} : { signal: controller.signal });
      if (abortMs !== undefined) at(abortMs, () => controller.abort(reason));
      at(atMs, () => {
        running += 1;
        call = recordCall(call$, scheduler, onEnd);
      });
      if (leaveMs !== undefined) at(leaveMs, () => call?.leave());
      return () => call?.told ?? [];
    }

    body({
      scheduler,
      at,
      flush,
      gatewayOf(specs, policy) {
        const gateway = virtualGateway(specs, scheduler, policy);
        gateways.push(gateway);
        return gateway;
      },
      expectCall(gateway, spec = {}) {
        const told = record(gateway.chat$, spec);
        return expected((diagram, fields, error) => {
          const parsed = TestScheduler.parseMarbles(diagram, { r: fields }, error, false, true) as Told[];
          checks.push(() => expect(told().map((one) => comparable(one, fields ?? error))).toEqual(parsed));
        });
      },
      expectStream(gateway, spec = {}) {
        const told = record(gateway.stream$, spec);
        return {
          toSay(diagram, items, error) {
            const parsed = TestScheduler.parseMarbles(diagram, items, error, false, true) as Told[];
            checks.push(() => expect(told().map((one, nth) => comparable(one, parsed[nth]?.notification.value ?? error))).toEqual(parsed));
          },
        };
      },
    });

    flush();
    expectAtRest(held());
    for (const check of checks) check();
    for (const gateway of gateways) expectRowPerRequest(gateway);
  });
}

function expected(expectTold: (diagram: string, fields?: object, error?: unknown) => void): ExpectedCall {
  return {
    toAnswer: (diagram, fields = {}) => expectTold(diagram, fields),
    toFail: (diagram, fields) => expectTold(diagram, undefined, fields),
    toSayNothing: () => expectTold('-'),
  };
}

function comparable({ frame, notification: { kind, value, error } }: Told, shape: unknown): Told {
  return { frame, notification: { kind, value: pick(value, shape), error: pick(error, shape) } };
}

/** Of every row, in the order in which they were handed over, these fields. */
export function rowsOf<K extends keyof AttemptRecord>(gateway: VirtualGateway, ...fields: K[]): AttemptRecord[K][][] {
  return gateway.rows.map((row) => fields.map((field) => row[field]));
}

/** Of every source when its requests were sent and let go. */
export function requestsOf(gateway: VirtualGateway): (readonly [number, number | null])[][] {
  return gateway.sources.map(({ requests }) => requests.map(({ startedMs, closedMs }) => [startedMs, closedMs] as const));
}

/** The events of one kind, in order. */
export function eventsOf<T extends GatewayEvent['type']>(gateway: VirtualGateway, type: T): Extract<GatewayEvent, { type: T }>[] {
  return gateway.events.filter((event): event is Extract<GatewayEvent, { type: T }> => event.type === type);
}
