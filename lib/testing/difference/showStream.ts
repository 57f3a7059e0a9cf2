import { standsForItself } from '../parseDiagram.js';
import { columnsOf } from './columnsOf.js';
import type { Told } from './kindOf.js';

const letters = Array.from('abcdefghijklmnopqrstuvwxyz');

/** A stream that is a value of another one, as a diagram: `stream -b|`; what letters stand for follows where they are not themselves. */
export function showStream(stream: readonly Told[], show: (value: unknown) => string): string {
  const explained = new Map<string, string>();
  const symbolOf = ({ notification: { kind, value, error } }: Told): string => {
    if (kind === 'C') return '|';
    if (kind === 'N' && typeof value === 'string' && standsForItself(value)) return value;
    const text = show(kind === 'N' ? value : error);
    const known = [...explained].find(([, other]) => other === text)?.[0];
    const symbol = kind === 'E' ? '#' : (known ?? letters.find((letter) => !explained.has(letter)) ?? '?');
    explained.set(symbol, text);
    return symbol;
  };
  const [line = ''] = columnsOf([stream.map((told) => ({ frame: told.frame, symbol: symbolOf(told) }))]).lines;
  return [`stream ${line}`, ...[...explained].map(([symbol, text]) => `${symbol} = ${text}`)].join(', ');
}
