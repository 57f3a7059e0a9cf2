import { maskSecrets } from '../../model/mask.js';
import type { FinishedRequest } from '../../server/frontDoor.js';
import { inSeconds } from '../inSeconds.js';
import type { Paint } from '../paint.js';
import { plain } from '../plain.js';

const longestPath = 100;

/** One request that has ended, in one line: nothing that was asked or answered, and no header. */
export function requestLine({ method, path, status, ended, ms, source, attempts, hedges, code }: FinishedRequest, { paint, date }: { paint: Paint; date: Date }): string {
  const facts = [
    ...(source === undefined ? [] : [source]),
    ...(attempts === undefined ? [] : [`${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`]),
    ...(hedges === undefined || hedges === 0 ? [] : [`${hedges} ${hedges === 1 ? 'hedge' : 'hedges'}`]),
    inSeconds(ms),
    ...(ended === 'client-gone' ? [paint('yellow', 'the client left')] : []),
    ...(code === undefined ? [] : [paint(ended === 'failed' ? 'red' : 'yellow', code)]),
  ];
  return `${paint('dim', date.toISOString())} ${method} ${shown(path)} ${status ?? '-'} ${facts.join(', ')}`;
}

/** A key may stand in a path by mistake. */
function shown(path: string): string {
  const text = maskSecrets(plain(path));
  return text.length > longestPath ? `${text.slice(0, longestPath)}...` : text;
}
