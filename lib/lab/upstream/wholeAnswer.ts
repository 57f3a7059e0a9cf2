import { defaultToolName, toolCallId, usageBody } from './chatFrames.js';
import type { AnswerIdentity } from './chatFrames.js';
import type { StepType, Timeline, TimelineStep } from './timeline.js';

const decides: readonly StepType[] = ['finish', 'done', 'error', 'broken', 'eof', 'reset', 'http-error'];

/** The step of a timeline at which a request that is not streamed gets its answer; `undefined`: never. */
export function decidingStep(timeline: Timeline): TimelineStep | undefined {
  return timeline.find(({ type }) => decides.includes(type));
}

/** What a timeline streams, as the JSON of one answer; usage counts wherever it stands. */
export function wholeAnswer(timeline: Timeline, { id, createdS, model }: AnswerIdentity): object {
  const usage = timeline.findLast((step) => step.type === 'usage');
  const finish = timeline.find((step) => step.type === 'finish');
  return {
    id,
    object: 'chat.completion',
    created: createdS,
    model,
    choices: [{ index: 0, message: wholeMessage(timeline, id), logprobs: null, finish_reason: finish?.reason ?? null }],
    ...(usage === undefined ? {} : { usage: usageBody(usage) }),
    system_fingerprint: null,
  };
}

function wholeMessage(timeline: Timeline, id: string): object {
  const content = textOf(timeline, 'content');
  const reasoning = textOf(timeline, 'reasoning');
  const calls = toolCalls(timeline, id);
  return {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    refusal: null,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function textOf(timeline: Timeline, type: 'content' | 'reasoning'): string {
  return timeline.map((step) => (step.type === type ? step.text : '')).join('');
}

interface WholeToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

function toolCalls(timeline: Timeline, id: string): WholeToolCall[] {
  const calls: WholeToolCall[] = [];
  for (const step of timeline) {
    if (step.type !== 'tool-arguments') continue;
    const current = calls.at(-1);
    if (step.name === undefined && current !== undefined) current.function.arguments += step.text;
    else calls.push({ id: toolCallId(id, calls.length), type: 'function', function: { name: step.name ?? defaultToolName, arguments: step.text } });
  }
  return calls;
}
