import { begun, done, drop, end, finish, hangUp, refuse, rest, say, texts, trickle, waitS, whole } from './faultyProvider.js';
import type { Exchange, Play } from './faultyProvider.js';

/** Of the limits of silence, and of the hedge signals, in seconds. */
export const limitS = 30;
export const hedgeS = 10;

export const burst = { clients: 20, refused: 10 } as const;

export type Delivery = 'commit' | 'buffered' | 'whole';

/** What a caller got. */
export type Got =
  | { readonly type: 'answer'; readonly text: string; readonly finish: string | null }
  | { readonly type: 'refused'; readonly status: number; readonly code: string }
  /** An error event behind this text, and nothing behind the event. */
  | { readonly type: 'interrupted'; readonly text: string; readonly code: string }
  /** The caller went, and the provider saw its connection close. */
  | { readonly type: 'left' }
  /** An end that looks whole and is not, or what the protocol does not know. */
  | { readonly type: 'wrong'; readonly what: string };

export interface Expected {
  /** One of these for each caller. */
  readonly got: readonly Got[];
  /** As the table puts it. */
  readonly words: string;
  /** At the faulty provider and at the healthy one. */
  readonly requests: readonly [a: number, b: number];
  /** In seconds of the limits; wide, since the machine may be busy. */
  readonly s: readonly [least: number, most: number];
}

export interface Fault {
  readonly name: string;
  /** Absent: nothing listens there. */
  readonly play?: Play;
  readonly callers?: number;
  /** Whoever asks goes once text has come. */
  readonly leaves?: boolean;
  readonly commit: Expected;
  /** Buffered, and in one piece. */
  readonly heldBack: Expected;
}

const answer = (text: string, reason = 'stop'): Got => ({ type: 'answer', text, finish: reason });
const busyS = 40;
const soon: Expected['s'] = [0, busyS];
const onHedge: Expected['s'] = after(hedgeS);

const fromA: Expected = { got: [answer(texts.a)], words: 'right answer', requests: [1, 0], s: soon };
const fromB: Expected = { got: [answer(texts.b)], words: 'right answer', requests: [1, 1], s: soon };
const interrupted: Expected = { got: [{ type: 'interrupted', text: texts.begun, code: 'stream_interrupted' }], words: 'an error event, since text was out already', requests: [1, 0], s: soon };
const tooLong: Expected = { got: [{ type: 'refused', status: 400, code: 'context_length_exceeded' }], words: 'HTTP 400, `context_length_exceeded`', requests: [1, 0], s: soon };
const filtered: Expected = { got: [answer(texts.begun, 'content_filter')], words: 'the filtered answer, marked `content_filter`', requests: [1, 0], s: soon };
const left: Expected = { got: [{ type: 'left' }], words: 'closed upstream', requests: [1, 0], s: soon };
const shared: Expected = { got: [...of(burst.refused, texts.b), ...of(burst.clients - burst.refused, texts.a)], words: 'right answer to all', requests: [burst.clients, burst.refused], s: soon };

function after(seconds: number): Expected['s'] {
  return [seconds * 0.95, seconds + busyS];
}

function of(count: number, text: string): Got[] {
  return Array.from({ length: count }, () => answer(text));
}

function always(expected: Expected): Pick<Fault, 'commit' | 'heldBack'> {
  return { commit: expected, heldBack: expected };
}

const refusing = (status: number, code: string, headers = {}): Play => () => [refuse({ status, code, headers })];

function overloaded({ number, all }: Exchange): ReturnType<Play> {
  return [all, ...(number <= burst.refused ? [refuse({ status: 503, code: 'overloaded' })] : whole)];
}

export const faults: readonly Fault[] = [
  { name: 'healthy', play: () => whole, ...always(fromA) },
  { name: '500, then fine', play: ({ number }) => (number === 1 ? [refuse({ status: 500, code: 'server_error' })] : whole), ...always(fromB) },
  { name: '429 with `Retry-After`', play: refusing(429, 'rate_limit_exceeded', { 'retry-after': '5' }), ...always(fromB) },
  { name: 'provider down', ...always({ ...fromB, requests: [0, 1] }) },
  { name: 'wrong key', play: refusing(401, 'invalid_api_key'), ...always(fromB) },
  { name: 'silent: takes the request, says nothing', play: () => [], ...always({ ...fromB, s: onHedge }) },
  { name: 'first token after 20 s', play: () => [waitS(20), ...begun, waitS(20), ...rest], ...always({ ...fromB, s: onHedge }) },
  { name: 'cut in mid-stream', play: () => [...begun, waitS(1), drop], commit: interrupted, heldBack: fromB },
  {
    name: 'silence of 30 s and more in mid-stream',
    play: () => [...begun, waitS(limitS * 1.5), ...rest],
    commit: { ...interrupted, s: after(limitS) },
    heldBack: { ...fromB, s: onHedge },
  },
  { name: 'malformed chunk in mid-stream', play: () => [...begun, waitS(1), 'data: {"choices":[{"delta":{"content":"co\n\n', ...rest], commit: interrupted, heldBack: fromB },
  { name: 'missing `[DONE]`, but a finish reason', play: () => [say(texts.a), finish('stop'), hangUp], ...always(fromA) },
  { name: 'missing `[DONE]`, and no finish reason', play: () => [...begun, waitS(1), hangUp], commit: interrupted, heldBack: fromB },
  { name: 'context too long', play: refusing(400, 'context_length_exceeded'), ...always(tooLong) },
  { name: 'content filter in mid-stream', play: () => [...begun, finish('content_filter'), ...done], ...always(filtered) },
  { name: `slow trickle: ${texts.a.length} tokens, one a second`, play: () => [...trickle, ...end], ...always({ ...fromA, s: after(texts.a.length) }) },
  { name: 'client leaves in mid-stream', play: () => begun, leaves: true, ...always(left) },
  { name: `overload: 503 to ${burst.refused} of ${burst.clients} calls at once`, play: overloaded, callers: burst.clients, ...always(shared) },
];
