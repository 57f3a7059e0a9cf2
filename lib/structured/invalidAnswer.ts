import { InvalidAnswerError } from '../model/errors.js';
import type { AnswerProblem } from '../model/errors.js';
import { shortened } from '../model/firstOf.js';
import type { ChatMessage } from '../model/request.js';
import type { ChatResponse } from '../model/response.js';
import { problemList } from './answerProblems.js';
import type { UnfitAnswer } from './checkAnswer.js';

/** Places that a message names. */
const maxPlaces = 10;
const longestPlace = 60;

/** The messages by which a bad answer is sent back. */
export function repairTurns({ content, message }: ChatResponse, { problems }: UnfitAnswer): ChatMessage[] {
  const request: ChatMessage = { role: 'user', content: `Your answer is not what was asked for:\n${problemList(problems)}\nAnswer again with the corrected JSON and nothing else.` };
  // Some providers refuse an assistant's message that says nothing.
  return content === '' ? [request] : [message, request];
}

export function invalidAnswer(response: ChatResponse, unfit: UnfitAnswer, repairs: number): InvalidAnswerError {
  const { callId, source, stats: { attempts }, providerRequestId } = response;
  const { reason, problems, cause } = unfit;
  const again = repairs === 0 ? '' : repairs === 1 ? ', also after one repair' : `, also after ${repairs} repairs`;
  return new InvalidAnswerError(`the answer of ${source} ${whatIsWrong(unfit)}${again}`, {
    reason,
    problems,
    repairs,
    response,
    callId,
    source,
    attempts,
    cause,
    ...(providerRequestId === null ? {} : { providerRequestId }),
  });
}

/** Names places of the answer, but no values of it; a place may hold a key that the model chose. */
function whatIsWrong({ reason, problems }: UnfitAnswer): string {
  switch (reason) {
    case 'refusal':
      return 'is a refusal';
    case 'length':
      return 'was cut off at its token limit (finish reason length): raise max_tokens or max_completion_tokens';
    case 'content_filter':
      return 'was stopped by a content filter';
    case 'tool_calls':
      return 'consists of tool calls: run them, and parse the answer that follows';
    case 'not_json':
      return `is ${problems[0]?.message ?? 'not JSON'}`;
    case 'wrong_shape':
      return `does not fit its schema at ${placesOf(problems)}`;
    default:
      return reason satisfies never;
  }
}

function placesOf(problems: readonly AnswerProblem[]): string {
  const places = [...new Set(problems.map(({ path }) => path || 'its root'))];
  const named = places.slice(0, maxPlaces).map((place) => shortened(place, longestPlace)).join(', ');
  return places.length > maxPlaces ? `${named} and ${places.length - maxPlaces} more places` : named;
}
