import type { ChatDelta } from '../../lib/model/delta.js';
import { RateLimitedError, RequestError, SourceError, TransientError } from '../../lib/model/errors.js';
import type { ScriptStep } from '../../lib/sources/scriptedSource.js';

/**
 * What a source does, in seconds after the request: `d1"text"` content, `r` reasoning, `n` refusal, `g` tool arguments,
 * `e` an empty frame, `u` usage, `f` finish `stop` and end (`f(tool_calls)`), `F` finish without an end, `D` the end, `T`
 * transient failure (`T0.1(ra=3)`), `L` 429, `S` this source is out, `Q` the request is wrong. `&` before a word: in the
 * frame of the word before it. Without an end the script hangs.
 */
export function script(text: string): ScriptStep[] {
  const strange = text.replaceAll(word, '').trim();
  if (strange !== '') throw new Error(`not a word of a script: ${strange}`);
  return [...text.matchAll(word)].flatMap(toSteps);
}

const word = /(&?)([a-zA-Z])(?:\(([^)]*)\))?([\d.]+)(?:"([^"]*)")?(?:\(([^)]*)\))?/g;

function toSteps([, joined, kind = '', before, at, text = 'x', after]: RegExpExecArray): ScriptStep[] {
  const atMs = Math.round(Number(at) * 1_000_000) / 1000;
  const delta = (value: ChatDelta): ScriptStep => ({ atMs, type: 'delta', delta: joined === '&' ? { ...value, sameFrame: true } : value });
  const end: ScriptStep = { atMs, type: 'end' };
  const facts = after?.startsWith('ra=') ? { retryAfterS: Number(after.slice(3)) } : {};
  // A new error for each request, as a real source makes one.
  const failure = (make: () => unknown): ScriptStep[] => [{ atMs, type: 'error', get error() { return make(); } }];
  switch (kind) {
    case 'd':
      return [delta({ type: 'content', text })];
    case 'r':
      return [delta({ type: 'reasoning', text })];
    case 'n':
      return [delta({ type: 'refusal', text })];
    case 'g':
      return [delta({ type: 'tool-call', index: 0, id: 'call_1', name: 'tool', arguments: text })];
    case 'e':
      return [delta({ type: 'content', text: '' })];
    case 'u': {
      const [promptTokens = 1, completionTokens = 1] = (after ?? '1,1').split(',').map(Number);
      const totalTokens = promptTokens + completionTokens;
      return [delta({ type: 'usage', usage: { promptTokens, completionTokens, totalTokens, reasoningTokens: null, cachedTokens: null } })];
    }
    case 'f':
      return [delta({ type: 'finish', reason: before ?? 'stop' }), end];
    case 'F':
      return [delta({ type: 'finish', reason: before ?? 'stop' })];
    case 'D':
      return [end];
    case 'T':
      return failure(() => new TransientError('it broke', facts));
    case 'L':
      return failure(() => new RateLimitedError('too many', { ...facts, httpStatus: 429 }));
    case 'S':
      return failure(() => new SourceError('no credit'));
    case 'Q':
      return failure(() => new RequestError('too long', { httpStatus: 400 }));
    default:
      throw new Error(`not a word of a script: ${kind}${at}`);
  }
}
