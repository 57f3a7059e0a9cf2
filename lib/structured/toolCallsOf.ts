import { shortened } from '../model/firstOf.js';
import type { ToolMessage } from '../model/request.js';
import type { ChatResponse, ToolCall } from '../model/response.js';
import { answerProblems, problemList } from './answerProblems.js';
import type { Tool } from './defineTool.js';
import { readJson } from './readJson.js';
import type { OutputOf, StandardResult } from './standardSchema.js';
import { toolMessage } from './toolMessage.js';

/** A call whose arguments fit; `args` is what the schema's check gave. */
export interface ValidToolCall<Name extends string = string, Args = unknown> {
  readonly type: 'call';
  readonly id: string;
  readonly name: Name;
  readonly args: Args;
}

/** A call that cannot be run. */
export interface InvalidToolCall {
  readonly type: 'invalid';
  readonly id: string;
  readonly name: string;
  /** `unchecked`: the schema threw, or was not done at once. */
  readonly problem: 'unknown-tool' | 'not-json' | 'wrong-arguments' | 'unchecked';
  /** Tells the model what is wrong, ready to be appended to `messages`. */
  readonly message: ToolMessage;
}

/** The calls of these tools: a union on `name`. */
export type ToolCallOf<T extends Tool> = T extends Tool<infer Name, infer S> ? ValidToolCall<Name, OutputOf<S>> : never;

/**
 * The calls of an answer in their order, with arguments of each tool's type. What is not known, no JSON, does not fit its
 * schema or cannot be checked comes as `invalid`, with the message that tells the model so; nothing is thrown. Schemas with
 * asynchronous checks are not for tools: all their calls come as `unchecked`. Calls of custom tools, whose input is free
 * text, are left out: `response.toolCalls` has them, with `custom: true`.
 *
 *     const results = toolCallsOf(response, [weather, search]).map((call) => {
 *       if (call.type === 'invalid') return call.message;
 *       return toolMessage(call, call.name === 'weather' ? forecast(call.args.city) : find(call.args.query));
 *     });
 */
export function toolCallsOf<const T extends readonly Tool[]>(response: Pick<ChatResponse, 'toolCalls'>, tools: T): (ToolCallOf<T[number]> | InvalidToolCall)[] {
  return response.toolCalls.filter(({ custom }) => custom !== true).map((call) => readCall(call, tools) as ToolCallOf<T[number]> | InvalidToolCall);
}

/** Of a name that the model made up. */
const longestName = 100;

function readCall(call: ToolCall, tools: readonly Tool[]): ValidToolCall | InvalidToolCall {
  const { id, name, arguments: text } = call;
  const tool = tools.find((known) => known.name === name);
  if (tool === undefined) return invalid(call, 'unknown-tool', `There is no tool ${JSON.stringify(shortened(name, longestName))}. ${listOf(tools)}`);
  // Some models write nothing where there is nothing to say.
  const read = readJson(text.trim() === '' ? '{}' : text);
  if (read.type === 'problem') return invalid(call, 'not-json', `The arguments of ${name} are ${read.message}. Call it again with a JSON object.`);
  const checked = checkNow(tool, read.value);
  if (checked === undefined) return invalid(call, 'unchecked', `The arguments of ${name} could not be checked. Call it again with other arguments.`);
  if (checked.issues === undefined) return { type: 'call', id, name, args: checked.value };
  return invalid(call, 'wrong-arguments', `The arguments of ${name} do not fit:\n${problemList(answerProblems(checked.issues))}\nCall it again with arguments that do.`);
}

function invalid({ id, name }: ToolCall, problem: InvalidToolCall['problem'], text: string): InvalidToolCall {
  return { type: 'invalid', id, name, problem, message: toolMessage({ id }, text) };
}

function listOf(tools: readonly Tool[]): string {
  return tools.length === 0 ? 'There are no tools.' : `The tools are: ${tools.map(({ name }) => name).join(', ')}.`;
}

/** `undefined` where the schema throws or answers other than at once: some turn to a promise when a transform throws. */
function checkNow({ parameters }: Tool, value: unknown): StandardResult<unknown> | undefined {
  try {
    const checked = parameters['~standard'].validate(value);
    if (!('then' in checked)) return checked;
    // What it says does not matter any more, and must not end the process.
    checked.then(undefined, () => undefined);
  } catch {
    return undefined;
  }
  return undefined;
}
