import { interval } from 'rxjs';
import { monotonicScheduler } from '../../clock/monotonicScheduler.js';
import { messageOf } from '../../model/errors.js';
import type { Screen } from '../terminal.js';
import type { CallTrace } from './callTrace.js';
import type { PlayedCall } from './demoFigures.js';
import type { PlannedCall } from './demoPlan.js';
import type { DemoRig } from './demoRig.js';
import { drawCall, layoutFor } from './drawCall.js';
import type { Stage } from './stage.js';

export interface PlayOptions {
  readonly plan: readonly PlannedCall[];
  readonly rig: DemoRig;
  readonly trace: CallTrace;
  readonly stage: Stage;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

const redrawMs = 50;

/** Makes the calls one after another, each drawn while it runs and left as a picture; a call that fails is left out. */
export async function playCalls({ plan, ...rest }: PlayOptions): Promise<PlayedCall[]> {
  const played: PlayedCall[] = [];
  for (const [at, planned] of plan.entries()) {
    const call = await playCall({ planned, label: String(at + 1), ...rest });
    if (call !== undefined) played.push(call);
  }
  return played;
}

interface CallOptions extends Omit<PlayOptions, 'plan'> {
  readonly planned: PlannedCall;
  readonly label: string;
}

async function playCall({ planned, label, rig, trace, stage, screen, signal }: CallOptions): Promise<PlayedCall | undefined> {
  trace.clear();
  const startMs = monotonicScheduler.now();
  const picture = (ended: { unhedgedMs: number } | undefined): string[] => {
    const layout = layoutFor(screen.columns);
    return drawCall({ label, lanes: trace.lanes(), startMs, nowMs: monotonicScheduler.now(), layout, paint: screen.paint, ...ended });
  };
  const drawing = interval(redrawMs).subscribe({
    next: () => stage.show(picture(undefined)),
    error: (error: unknown) => screen.line(messageOf(error)),
  });
  try {
    const response = await rig.gateway.chat({ messages: [{ role: 'user', content: `question ${label}` }] }, { signal });
    return { planned, response };
  } catch (error: unknown) {
    signal.throwIfAborted();
    stage.keep([`${label.padStart(3)}  failed: ${messageOf(error)}`]);
    return undefined;
  } finally {
    drawing.unsubscribe();
    stage.keep(picture({ unhedgedMs: planned.unhedged.wallMs }));
  }
}
