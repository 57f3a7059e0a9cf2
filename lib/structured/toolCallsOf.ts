import { ConfigError } from '../model/errors.js';
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
  readonly problem: 'unknown-tool' | 'not-json' | 'wrong-arguments';
  /** Tells the model what is wrong, ready to be appended to `messages`. */
  readonly message: ToolMessage;
}

/** The calls of these tools: a union on `name`. */
export type ToolCallOf<T extends Tool> = T extends Tool<infer Name, infer S> ? ValidToolCall<Name, OutputOf<S>> : never;

/**
 * The calls of an answer in their order, with arguments of each tool's type. What is not known, no JSON or does not fit its
 * schema comes as `invalid`, with the message that tells the model so. Throws `ConfigError` for a schema that can only be
 * checked asynchronously.
 *
 *     const results = toolCallsOf(response, [weather, search]).map((call) => {
 *       if (call.type === 'invalid') return call.message;
 *       return toolMessage(call, call.name === 'weather' ? forecast(call.args.city) : find(call.args.query));
 *     });
 */
export function toolCallsOf<const T extends readonly Tool[]>(response: Pick<ChatResponse, 'toolCalls'>, tools: T): (ToolCallOf<T[number]> | InvalidToolCall)[] {
  return response.toolCalls.map((call) => readCall(call, tools) as ToolCallOf<T[number]> | InvalidToolCall);
}

function readCall(call: ToolCall, tools: readonly Tool[]): ValidToolCall | InvalidToolCall {
  const { id, name, arguments: text } = call;
  const tool = tools.find((known) => known.name === name);
  if (tool === undefined) return invalid(call, 'unknown-tool', `There is no tool ${JSON.stringify(name)}. ${listOf(tools)}`);
  // Some models write nothing where there is nothing to say.
  const read = readJson(text.trim() === '' ? '{}' : text);
  if (read.type === 'problem') return invalid(call, 'not-json', `The arguments of ${name} are ${read.message}. Call it again with a JSON object.`);
  const checked = checkNow(tool, read.value);
  if (checked.issues === undefined) return { type: 'call', id, name, args: checked.value };
  return invalid(call, 'wrong-arguments', `The arguments of ${name} do not fit:\n${problemList(answerProblems(checked.issues))}\nCall it again with arguments that do.`);
}

function invalid({ id, name }: ToolCall, problem: InvalidToolCall['problem'], text: string): InvalidToolCall {
  return { type: 'invalid', id, name, problem, message: toolMessage({ id }, text) };
}

function listOf(tools: readonly Tool[]): string {
  return tools.length === 0 ? 'There are no tools.' : `The tools are: ${tools.map(({ name }) => name).join(', ')}.`;
}

function checkNow({ name, parameters }: Tool, value: unknown): StandardResult<unknown> {
  const checked = parameters['~standard'].validate(value);
  if (!('then' in checked)) return checked;
  // What it says does not matter any more, and must not end the process.
  checked.then(undefined, () => undefined);
  throw new ConfigError([`the schema of the tool ${name} is checked asynchronously: take the check out of it, and make it where the tool is run`]);
}
