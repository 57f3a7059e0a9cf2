/** What the upstream says in one delta: which call, source and attempt it belongs to, which delta it is, and of how many. */
export const mark = ({ id, source, nth }, index, total) => `${id}:${source}:${nth}:${index}/${total} `;

/** What is wrong with a text, if anything: it has to be all deltas of one attempt at this call, in order, and nothing else. */
export function faultOf(text, id) {
  const marks = text.split(' ').slice(0, -1);
  if (marks.length === 0) return 'empty';
  const [, source, nth, , total] = marks[0].split(/[:/]/);
  const whole = Array.from({ length: Number(total) }, (_, index) => mark({ id, source, nth }, index, total)).join('');
  if (text === whole) return undefined;
  return whole.startsWith(text) ? `cut off after ${marks.length} of ${total} deltas` : `not one attempt: ${text.slice(0, 120)}`;
}
