import { Agent, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { mulberry32 } from '../../lib/lab/mulberry32.js';
import { connectionsTo, nothingInFlight } from '../gateway/scene.js';
import { atRest, chat, closeAfterTest, closeAll, eventsOf, frontDoorTo, until, upstream } from './frontDoorScene.js';

afterEach(closeAll);

const random = mulberry32(6);
const clients = 100;
/** For each client, one after the other: about 2 s in all on a machine that has nothing else to do. */
const streams = 3;

/** Texts that show what is missing or doubled, and where the answer ends. */
function script(deltas: number): string {
  const at = (place: number): string => (0.03 + place * 0.06).toFixed(2);
  const texts = Array.from({ length: deltas }, (_, place) => `d@${at(place)}"${place} "`);
  return `open@0.01 ${texts.join(' ')} d@${at(deltas)}"end" f@${at(deltas)} u(1,2)`;
}

interface Ending {
  readonly how: 'whole' | 'left' | 'broken';
  readonly status: number | undefined;
  readonly text: string;
}

interface Asking {
  readonly agent: Agent;
  /** The client leaves when so many events have come, with 0 before there is anything; absent: it stays. */
  readonly leaveAfter?: number | undefined;
}

function ask(url: string, { agent, leaveAfter }: Asking): Promise<Ending> {
  return new Promise((resolve) => {
    let text = '';
    let status: number | undefined;
    const request = httpRequest(`${url}/v1/chat/completions`, { method: 'POST', agent, headers: { 'content-type': 'application/json' } });
    const end = (how: Ending['how']): void => resolve({ how, status, text });
    const leave = (): void => {
      end('left');
      request.destroy();
    };
    request.on('error', () => end('broken'));
    request.on('response', (response) => {
      status = response.statusCode;
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
        if (leaveAfter !== undefined && text.split('\n\n').length > leaveAfter) leave();
      });
      response.on('error', () => end('broken')).on('end', () => end('whole'));
    });
    request.end(JSON.stringify(chat({ stream: true })));
    if (leaveAfter === 0) setTimeout(leave, random() * 40);
  });
}

/** The texts that came, without those of an event that was cut off. */
function wordsOf(text: string): string[] {
  const events = eventsOf(text.slice(0, text.lastIndexOf('\n\n') + 1)) as { choices?: { delta: { content?: string } }[] }[];
  return events.flatMap(({ choices = [] }) => choices.map(({ delta }) => delta.content ?? '')).join('').split(' ').filter((word) => word !== '');
}

function isRight({ how, status, text }: Ending): boolean {
  const words = wordsOf(text);
  const numbers = how === 'whole' ? words.slice(0, -1) : words.filter((word) => word !== 'end');
  const isWhole = status === 200 && words.at(-1) === 'end' && text.endsWith('data: [DONE]\n\n');
  return numbers.every((word, place) => word === String(place)) && (how === 'left' || (how === 'whole' && isWhole));
}

function listenersOf(socket: Socket): number {
  return socket.eventNames().reduce((sum, name) => sum + socket.listenerCount(name), 0);
}

describe('the front door: many streams at once', () => {
  test('100 clients, a third of whose streams are left: every answer is right, a row for each request, and nothing stays behind', async () => {
    const up = await upstream([4, 7, 10, 13].map(script), { order: 'random', random });
    const scene = await frontDoorTo([{ baseUrl: up.url, maxConcurrency: 10_000 }]);
    const { gateway, rows, url, finished } = scene;
    const [atDoor, atUpstream] = [connectionsTo(Number(new URL(url).port)), connectionsTo(up.port)];
    const agent = new Agent({ keepAlive: true });
    closeAfterTest(() => agent.destroy());
    const listeningBefore = process.eventNames().length;
    const endings: Ending[] = [];

    await Promise.all(
      Array.from({ length: clients }, async () => {
        await sleep(random() * 200);
        for (let stream = 0; stream < streams; stream += 1) endings.push(await ask(url, { agent, leaveAfter: random() < 1 / 3 ? Math.floor(random() * 5) : undefined }));
      }),
    );
    await atRest(scene);

    expect(endings.filter((ending) => !isRight(ending)).map(({ text, ...ending }) => ({ ...ending, words: wordsOf(text) }))).toEqual([]);
    const count = (how: Ending['how']): number => endings.filter((ending) => ending.how === how).length;
    expect(count('left')).toBeGreaterThan(50);
    expect(count('whole')).toBeGreaterThan(150);
    await until(() => finished.filter(({ ended }) => ended === 'ok').length >= count('whole'), 'every whole answer was told');
    expect(up.requests.filter(({ closedByClientMs }) => closedByClientMs !== null).length).toBeGreaterThan(0);
    expect(rows.length).toBe(up.requests.length);
    expect(gateway.stats()).toEqual({ ...nothingInFlight, permits: { 'a/1': 0 } });

    // A connection that carried many streams has no more listeners than one that carried one.
    await until(() => atDoor.open.size <= clients, 'the connections of those that left are closed');
    const kept = [...atDoor.open].map(listenersOf);
    const another = new Agent({ keepAlive: true });
    closeAfterTest(() => another.destroy());
    await ask(url, { agent: another });
    const fresh = [...atDoor.open].at(-1);
    expect(fresh).toBeDefined();
    expect(new Set(kept)).toEqual(new Set([listenersOf(fresh as Socket)]));
    expect(process.eventNames().length).toBe(listeningBefore);

    agent.destroy();
    another.destroy();
    await scene.door.drain(0);
    await gateway.close();
    await until(() => atDoor.open.size === 0 && atUpstream.open.size === 0, 'every connection is closed');
    expect(rows.length).toBe(up.requests.length);
  }, 30_000);
});
