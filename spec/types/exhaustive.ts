import type { ChatDelta, GatewayEvent, StreamItem } from '../../lib/index.js';

/** Every member is known by its `type`, and each has the fields that it owns. */
export function ofDelta(delta: ChatDelta): string {
  switch (delta.type) {
    case 'content':
    case 'reasoning':
    case 'refusal':
      return delta.text;
    case 'tool-call':
      return delta.arguments;
    case 'usage':
      return String(delta.usage.totalTokens);
    case 'finish':
      return delta.reason;
    case 'logprobs':
      return Object.keys(delta.logprobs).join();
    case 'message-extra':
      return Object.keys(delta.fields).join();
    case 'facts':
      return delta.model ?? '';
    default:
      return delta satisfies never;
  }
}

export function ofDeltaButFacts(delta: ChatDelta): string {
  switch (delta.type) {
    case 'content':
    case 'reasoning':
    case 'refusal':
    case 'tool-call':
    case 'usage':
    case 'finish':
    case 'logprobs':
    case 'message-extra':
      return delta.type;
    default:
      // @ts-expect-error `facts` was left out
      return delta satisfies never;
  }
}

export function ofItem(item: StreamItem): string {
  switch (item.type) {
    case 'start':
      return item.source;
    case 'end':
      return item.response.content;
    case 'content':
    case 'reasoning':
    case 'refusal':
    case 'tool-call':
    case 'usage':
    case 'finish':
    case 'logprobs':
    case 'message-extra':
    case 'facts':
      return ofDelta(item);
    default:
      return item satisfies never;
  }
}

export function ofItemButEnd(item: StreamItem): string {
  switch (item.type) {
    case 'start':
    case 'content':
    case 'reasoning':
    case 'refusal':
    case 'tool-call':
    case 'usage':
    case 'finish':
    case 'logprobs':
    case 'message-extra':
    case 'facts':
      return item.type;
    default:
      // @ts-expect-error `end` was left out
      return item satisfies never;
  }
}

export function ofEvent(event: GatewayEvent): string | number | null {
  switch (event.type) {
    case 'call-started':
      return event.operation;
    case 'call-waiting':
      return event.retryAfterMs;
    case 'attempt-started':
      return event.role;
    case 'silence-noticed':
      return event.silentMs;
    case 'hedge-refused':
      return event.gate;
    case 'attempt-ended':
      return event.record.outcome;
    case 'attempt-unsent':
      return event.attemptId;
    case 'round-decided':
      return event.records.length;
    case 'retry-scheduled':
      return event.delayMs;
    case 'source-parked':
      return event.forMs;
    case 'breaker-changed':
      return event.to;
    case 'pace-changed':
      return event.concurrency;
    case 'backend-changed':
      return event.state;
    case 'lease-lost':
      return event.source;
    case 'call-ended':
      return event.code;
    case 'telemetry-trouble':
      return event.lost;
    default:
      return event satisfies never;
  }
}

export function ofEventButTrouble(event: Exclude<GatewayEvent, { type: 'call-started' | 'call-waiting' | 'call-ended' }>): string {
  switch (event.type) {
    case 'attempt-started':
    case 'silence-noticed':
    case 'hedge-refused':
    case 'attempt-ended':
    case 'attempt-unsent':
    case 'round-decided':
    case 'retry-scheduled':
    case 'source-parked':
    case 'breaker-changed':
    case 'pace-changed':
    case 'backend-changed':
    case 'lease-lost':
      return event.type;
    default:
      // @ts-expect-error `telemetry-trouble` was left out
      return event satisfies never;
  }
}
