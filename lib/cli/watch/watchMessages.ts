import { connect } from 'node:net';
import { Observable } from 'rxjs';
import { messageOf } from '../../model/errors.js';
import { watchProtocol } from '../../telemetry/watch/watchMessage.js';
import type { WatchHello, WatchMessage } from '../../telemetry/watch/watchMessage.js';
import { NothingToWatch } from './nothingToWatch.js';

const helloWithinMs = 5000;
const longestLine = 16 * 1024 * 1024;

/** What a process tells, hello first; completes when it ends or lets go. Unsubscribing leaves. Fails with `NothingToWatch`. */
export function watchMessages(address: string): Observable<WatchMessage> {
  return new Observable((viewer) => {
    let text = '';
    let greeted = false;
    const fail = (why: string): void => viewer.error(new NothingToWatch(`${address} ${why}`));
    const socket = connect(address);
    socket.setEncoding('utf8');
    socket.setTimeout(helloWithinMs, () => {
      if (!greeted) fail(`says nothing within ${helloWithinMs / 1000} s`);
    });
    socket.on('data', (chunk: string) => {
      const lines = (text + chunk).split('\n');
      text = lines.pop() ?? '';
      if (text.length > longestLine) fail('is no gateway: a line has no end');
      for (const line of lines) {
        const message = parsed(line);
        const problem = problemOf(message, greeted);
        if (problem !== undefined) {
          fail(problem);
          return;
        }
        greeted = true;
        viewer.next(message as WatchMessage);
      }
    });
    socket.on('error', (error) => (greeted ? viewer.complete() : fail(`cannot be watched: ${messageOf(error)}`)));
    socket.on('close', () => (greeted ? viewer.complete() : fail('let go of us at once: too many watch it, or it is no gateway')));
    return () => socket.destroy();
  });
}

function parsed(line: string): Partial<WatchMessage> | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === 'object' && message !== null ? message : undefined;
  } catch {
    return undefined;
  }
}

function problemOf(message: Partial<WatchMessage> | undefined, greeted: boolean): string | undefined {
  if (message?.type === undefined || (!greeted && message.type !== 'hello')) return 'is no gateway: it does not speak our language';
  if (message.type !== 'hello' || (message as WatchHello).protocol === watchProtocol) return undefined;
  return `is watched in another way (${(message as WatchHello).protocol}, and this program knows ${watchProtocol}): use the polygateway ${(message as WatchHello).version} that runs there`;
}
