import type { Counter, Histogram, Meter, UpDownCounter } from '@opentelemetry/api';
import type { OpenTelemetry } from './guard.js';
import { metricNames } from './names.js';

export interface Instruments {
  readonly duration: Histogram;
  readonly timeToFirstChunk: Histogram;
  readonly timePerOutputChunk: Histogram;
  readonly tokenUsage: Histogram;
  readonly stall: Histogram;
  readonly attempts: Counter;
  readonly openStreams: UpDownCounter;
  readonly hedges: Counter;
  readonly hedgesRefused: Counter;
  readonly callWait: Histogram;
  readonly callDuration: Histogram;
}

/** Those of the conventions. */
const secondsBoundaries = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const tokenBoundaries = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];

/** Instruments of the provider that is registered now: unlike a tracer, a meter that was got before it stays mute for ever. */
export function createInstruments({ metrics }: OpenTelemetry): () => Instruments {
  let known: { readonly provider: unknown; readonly instruments: Instruments } | undefined;
  return () => {
    const provider = metrics.getMeterProvider();
    if (known?.provider !== provider) known = { provider, instruments: instrumentsOf(provider.getMeter('polygateway')) };
    return known.instruments;
  };
}

function instrumentsOf(meter: Meter): Instruments {
  const seconds = (name: string, description: string): Histogram => meter.createHistogram(name, { unit: 's', description, advice: { explicitBucketBoundaries: secondsBoundaries } });
  return {
    duration: seconds(metricNames.duration, 'How long an attempt took.'),
    timeToFirstChunk: seconds(metricNames.timeToFirstChunk, 'From the start of a streamed attempt to its first output.'),
    timePerOutputChunk: seconds(metricNames.timePerOutputChunk, 'From one chunk of output to the next.'),
    tokenUsage: meter.createHistogram(metricNames.tokenUsage, { unit: '{token}', description: 'Tokens used by an attempt, as reported.', advice: { explicitBucketBoundaries: tokenBoundaries } }),
    stall: seconds(metricNames.stall, 'Silence in the middle of an answered stream.'),
    attempts: meter.createCounter(metricNames.attempts, { unit: '{attempt}', description: 'Requests sent, by how they ended.' }),
    openStreams: meter.createUpDownCounter(metricNames.openStreams, { unit: '{stream}', description: 'Requests in flight.' }),
    hedges: meter.createCounter(metricNames.hedges, { unit: '{hedge}', description: 'Backups started, by what became of them.' }),
    hedgesRefused: meter.createCounter(metricNames.hedgesRefused, { unit: '{hedge}', description: 'Backups that were wanted and not started, by what refused them.' }),
    callWait: seconds(metricNames.callWait, 'How long a call waited for a source to be free.'),
    callDuration: seconds(metricNames.callDuration, 'How long a call took, waits and retries included.'),
  };
}
