import { BehaviorSubject, asapScheduler } from 'rxjs';
import type { Observable } from 'rxjs';
import type { FastifyReply } from 'fastify';
import { factHeaderNames, factHeaders } from './factHeaders.js';
import { notesOf } from './requestNotes.js';
import { cutOff } from './slowClient.js';

/**
 * An event stream to one client. Its head goes out with its first text; the facts that are not known by then stand behind
 * the body.
 */
export interface EventStream {
  /** `true` while the client leaves unread what was written. */
  readonly held$: Observable<boolean>;
  /** The head is out, so that its status cannot be changed any more. */
  readonly hasBegun: boolean;
  /** There is something to pull: it is written at the end of this turn, all of a turn in one piece. */
  wake(this: void): void;
  /** Writes what there is to pull, and this behind it, and ends the answer. */
  end(this: void, lastText?: string): void;
}

export interface EventStreamOptions {
  readonly reply: FastifyReply;
  /** All text that has come and was not pulled yet. */
  readonly pull: () => string;
  /** After so long without a word a comment goes out. */
  readonly keepaliveMs: number;
  /** After so long without reading the client is cut off. */
  readonly slowClientMs: number;
}

/** Opens an event stream; nothing is sent before there is something to say. */
export function openEventStream({ reply, pull, keepaliveMs, slowClientMs }: EventStreamOptions): EventStream {
  const { raw: response } = reply;
  const notes = notesOf(reply.request);
  // A door: the state of the socket is pushed in from outside.
  const held$ = new BehaviorSubject(false);
  let isHeld = false;
  let isAwake = false;
  let hasBegun = false;
  let later: readonly string[] = [];

  function begin(): void {
    if (hasBegun) return;
    hasBegun = true;
    reply.hijack();
    const facts = factHeaders(notes);
    // HTTP/1.0 has no place behind the body.
    if (reply.request.raw.httpVersion !== '1.0') later = factHeaderNames.filter((name) => !(name in facts));
    response.writeHead(200, { ...known(reply.getHeaders()), ...headers, ...facts, ...(later.length === 0 ? {} : { trailer: later.join(', ') }) });
  }

  function write(text: string): void {
    if (text === '' || response.destroyed) return;
    begin();
    hold(!response.write(text));
  }

  function hold(now: boolean): void {
    if (now === isHeld) return;
    isHeld = now;
    response.setTimeout(now ? slowClientMs : keepaliveMs);
    held$.next(now);
  }

  function flush(): void {
    isAwake = false;
    if (!response.writableEnded) write(pull());
  }

  // The socket's own timer is put back by every write for nothing, and by whatever the client has read of a long one.
  response.setTimeout(keepaliveMs);
  response.on('timeout', () => (isHeld || response.writableEnded ? cutOff(reply) : write(': keepalive\n\n')));
  response.on('drain', () => hold(false));

  return {
    held$,
    get hasBegun() {
      return hasBegun;
    },
    wake() {
      if (isAwake) return;
      isAwake = true;
      asapScheduler.schedule(flush);
    },
    end(lastText = '') {
      if (response.destroyed) return;
      begin();
      const facts = Object.entries(factHeaders(notes));
      response.addTrailers(facts.filter(([name]) => later.includes(name)));
      response.setTimeout(slowClientMs);
      response.end(pull() + lastText);
    },
  };
}

const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };

function known(given: Readonly<Record<string, number | string | string[] | undefined>>): Record<string, number | string | string[]> {
  return Object.fromEntries(Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
