import type { EmbeddingAnswer, EmbeddingInput, EmbeddingResponse, ValidEmbeddingRequest } from '../model/embedding.js';
import { SourceError, TransientError } from '../model/errors.js';
import type { EmbeddingSource, Upstream } from '../model/source.js';
import { addUsage } from '../model/usage.js';
import { estimateTextTokens } from '../governance/quota/estimateTokens.js';
import type { Answered } from './call.js';
import type { Asked } from './call.js';
import { find, once } from './task.js';
import { wholeExchange } from './wholeExchange.js';

const defaultMaxBatch = 128;

/**
 * An embedding call: one request after the other, each as large as the source that was admitted for it takes, until every
 * input has its vector. What has been answered is not asked again when a later request fails and is retried.
 */
export function openEmbedding(request: ValidEmbeddingRequest, sources: readonly EmbeddingSource[]): Asked<EmbeddingAnswer, EmbeddingResponse> {
  const answers: EmbeddingAnswer[] = [];
  let done = 0;
  const tokensOf = request.input.map((input) => once(() => (typeof input === 'string' ? estimateTextTokens(input) : input.length)));
  const batchFor = (source: Upstream): readonly EmbeddingInput[] => request.input.slice(done, done + (find(sources, source).maxBatch ?? defaultMaxBatch));

  return {
    task: {
      operation: 'embeddings',
      streamed: false,
      model: request.model ?? null,
      tags: request.tags ?? null,
      estimate: (source) => tokensOf.slice(done, done + batchFor(source).length).reduce((sum, tokens) => sum + tokens(), 0),
      open(source) {
        const input = batchFor(source);
        return wholeExchange<EmbeddingAnswer>(
          (context) => find(sources, source).embed({ ...request, input }, context),
          (answer) => fitting(answer, { inputs: input.length, before: answers[0], source: source.id }),
        );
      },
      take(answer) {
        answers.push(answer);
        done += answer.vectors.length;
        return done < request.input.length;
      },
    },
    respond: (answered) => toResponse(answered, answers),
  };
}

/** Vectors that do not belong to their inputs, or not to one space, are worse than none. */
function fitting(answer: EmbeddingAnswer, expected: { inputs: number; before: EmbeddingAnswer | undefined; source: string }): EmbeddingAnswer {
  const { inputs, before, source } = expected;
  const [first, ...others] = answer.vectors;
  if (answer.vectors.length !== inputs || first === undefined) {
    throw new TransientError(`${source} gave ${answer.vectors.length} vectors for ${inputs} inputs`);
  }
  const odd = others.find(({ length }) => length !== first.length);
  if (first.length === 0 || odd !== undefined) throw new TransientError(`${source} gave vectors of ${first.length} and of ${odd?.length ?? 0} numbers`);
  const earlier = before?.vectors[0]?.length ?? first.length;
  if (first.length !== earlier) {
    throw new SourceError(`${source} gives vectors of ${first.length} numbers, but those before have ${earlier}: the sources of one scope must serve one model`);
  }
  return answer;
}

function toResponse({ call, winner, callMs }: Answered<EmbeddingAnswer>, answers: readonly EmbeddingAnswer[]): EmbeddingResponse {
  const { answer, source } = winner;
  return {
    vectors: answers.flatMap(({ vectors }) => vectors),
    usage: answers.map(({ usage }) => usage).reduce(addUsage),
    callId: call.id,
    model: answer.model ?? call.task.model ?? source.model,
    source: source.id,
    providerRequestId: answer.providerRequestId ?? null,
    callMs,
    stats: { attempts: call.attempts, answered: answers.length, waitedMs: Math.trunc(call.clock.stalledMs()) },
  };
}
