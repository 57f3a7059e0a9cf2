import { EMPTY, catchError, defaultIfEmpty, defer, expand, from, map, mergeMap, of, take, throwError, timeout, toArray } from 'rxjs';
import type { Observable } from 'rxjs';
import { toolCallsOf, toolMessage } from 'polygateway';
import type { ChatMessage, ChatResponse, Gateway, InvalidToolCall, Tool, ToolCallOf, ToolMessage } from 'polygateway';

/** Where the conversation stands; the figures are those of all its turns. */
interface Conversation {
  readonly turn: number;
  /** Ready to be sent, or to be gone on with later: a turn is not in it while its tools have not been run. */
  readonly messages: ChatMessage[];
  /** Model time without silences, in ms. */
  readonly netMs: number;
  /** `null` where a provider did not report them. */
  readonly tokens: number | null;
}

/** What has happened last. The loop ends with `answered`, or with `out-of-turns`, whose tool calls were not run. */
export type AgentStep = Conversation &
  (
    | { readonly type: 'wants-tools' | 'answered' | 'out-of-turns'; readonly response: ChatResponse }
    | { readonly type: 'ran-tools'; readonly results: readonly ToolMessage[] }
  );

export interface AgentOptions<T extends Tool> {
  readonly tools: readonly T[];
  /** Runs a call; its first value is the result. Log here what it fails with: the model hears only that it did, or a `ToolError`'s message. */
  readonly run: (call: ToolCallOf<T>) => Observable<unknown>;
  /** Most times that the model is asked; default 10. */
  readonly maxTurns?: number;
  /** Tools that run at once; default 4. */
  readonly concurrency?: number;
  /** How long a tool may take for its result, in ms; default 30,000. */
  readonly toolTimeoutMs?: number;
}

/** What a tool fails with where the model should know why: its message goes to the provider, that of no other error does. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/**
 * Asks a model and runs the tools that it calls, until it calls none.
 *
 *     the model:  -w-s-|
 *     tools:           ---f|               w's, each tool an Observable of yours
 *                      -----#              s's, which fails: the model is told so, after w's result
 *     the model:            --a--|
 *     result:     -----W----R----(A|)      W = wants-tools, R = ran-tools, A = answered
 *
 * Every step is emitted. Fails with what `chat$` fails with. Unsubscribing stops what runs, model or tools.
 *
 *     agentLoop(gateway, [{ role: 'user', content: 'Do I need an umbrella?' }], {
 *       tools: [weather],
 *       run: ({ args }) => forecast(args.city),
 *     }).subscribe({ next: show });
 */
export function agentLoop<T extends Tool>(gateway: Pick<Gateway, 'chat$'>, messages: ChatMessage[], options: AgentOptions<T>): Observable<AgentStep> {
  const { tools, maxTurns = 10 } = options;
  const ask = (before: Conversation): Observable<AgentStep> =>
    gateway.chat$({ messages: before.messages, tools: tools.map(({ definition }) => definition) }).pipe(
      map((response): AgentStep => ({ ...answeredBy(before, response), type: kindOf(response, before.turn + 1 < maxTurns), response })),
    );

  return ask({ turn: 0, messages, netMs: 0, tokens: 0 }).pipe(
    expand((step) => {
      if (step.type === 'wants-tools') return runTools(step, step.response, options);
      return step.type === 'ran-tools' ? ask(step) : EMPTY;
    }),
  );
}

function kindOf({ toolCalls }: ChatResponse, mayGoOn: boolean): 'wants-tools' | 'answered' | 'out-of-turns' {
  if (toolCalls.length === 0) return 'answered';
  return mayGoOn ? 'wants-tools' : 'out-of-turns';
}

function answeredBy({ turn, messages, netMs, tokens }: Conversation, { message, stats, toolCalls, usage }: ChatResponse): Conversation {
  const more = usage?.totalTokens ?? null;
  return {
    turn: turn + 1,
    messages: toolCalls.length === 0 ? [...messages, message] : messages,
    netMs: netMs + stats.generationMs,
    tokens: tokens === null || more === null ? null : tokens + more,
  };
}

function runTools<T extends Tool>(before: Conversation, response: ChatResponse, options: AgentOptions<T>): Observable<AgentStep> {
  const { tools, concurrency = 4 } = options;
  return from(toolCallsOf(response, tools)).pipe(
    mergeMap((call, index) => resultOf(call, options).pipe(map((message) => ({ index, message }))), concurrency),
    toArray(),
    map((unordered) => unordered.sort((one, other) => one.index - other.index).map(({ message }) => message)),
    map((results) => ({ ...before, type: 'ran-tools', results, messages: [...before.messages, response.message, ...results] })),
  );
}

function resultOf<T extends Tool>(call: ToolCallOf<T> | InvalidToolCall, { run, toolTimeoutMs = 30_000 }: AgentOptions<T>): Observable<ToolMessage> {
  if (call.type === 'invalid') return of(call.message);
  const tooLate$ = throwError(() => new ToolError(`The tool took longer than ${toolTimeoutMs} ms.`));
  return defer(() => run(call)).pipe(
    take(1),
    timeout({ first: toolTimeoutMs, with: () => tooLate$ }),
    defaultIfEmpty(null),
    map((result) => toolMessage(call, result)),
    catchError((error: unknown) => of(toolMessage(call, error instanceof ToolError ? error.message : 'The tool failed.'))),
  );
}
