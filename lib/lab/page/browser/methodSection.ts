import type { PageData } from '../pageData.js';
import { element } from './element.js';
import type { Section } from './section.js';
import { counted, instant } from './words.js';

export function methodSection({ version, figures }: PageData): Section {
  const { database, madeAt, overall, calls } = figures;
  const facts: readonly (readonly [string, string])[] = [
    ['Database', database],
    ['Attempts', `${counted(overall.attempts, 'attempt')} of ${counted(calls.calls, 'call')}, ${overall.measured.toLocaleString('en')} of them with measured silence`],
    ['Span', spanWords(figures)],
    ['Filter', filterWords(figures.filter)],
    ['Made', `${instant(madeAt)} by polygateway ${version}`],
    ['Silence', 'A pause between two increments of a stream that is longer than the gateway\u2019s stall threshold (1 s unless set otherwise). An increment is a frame that brings output: text, reasoning, a refusal or part of a tool call; keepalives and empty frames bring none.'],
    ['Measured time', 'The time of streams that were answered with at least two increments. It is made of the wait for the first words, silence in mid-stream, and output, which is all the rest, the tail after the last words included.'],
    ['Net', 'Wall time less silence in mid-stream: a measure of this project, not to be compared with latencies of public benchmarks.'],
    ['Not measured', 'The time in silence of answers that came in one piece, of requests that were not streamed, and of rows that an older version stored. Of streams that failed or were cancelled (\u201ccut\u201d) only the wait for first words is known, all of their time where none came, and the silence that they ended in, which is a least figure. What cannot be told is shown as not measured, never as 0.'],
    ['Losers', 'Attempts that another one of their round beat. Tokens are those that the source reported, else an estimate; the two are told apart.'],
    ['Percentiles', 'Exact, by nearest rank. Curves show at most 200 of their points.'],
  ];
  return {
    id: 'method',
    short: 'How it was measured',
    title: 'How this was measured',
    children: [element('dl', {}, ...facts.flatMap(([term, text]) => [element('dt', {}, term), element('dd', {}, text)]))],
  };
}

export function spanWords({ firstAt, lastAt }: PageData['figures']): string {
  return firstAt === null ? 'no attempt' : `${instant(firstAt)} to ${instant(lastAt)}`;
}

export function filterWords({ since, until, source, tags }: PageData['figures']['filter']): string {
  const parts = [
    ...(since === null ? [] : [`since ${instant(since)}`]),
    ...(until === null ? [] : [`before ${instant(until)}`]),
    ...(source === null ? [] : [`source ${source}`]),
    ...Object.entries(tags).map(([key, value]) => `tag ${key}=${value}`),
  ];
  return parts.join(', ') || 'none: all attempts';
}
