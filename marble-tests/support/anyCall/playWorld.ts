import { defer } from 'rxjs';
import type { Observable } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import type { CallOptions } from '../../../lib/gateway/calls.js';
import type { ChatRequest } from '../../../lib/model/request.js';
import type { ScriptStep } from '../../../lib/sources/scriptedSource.js';
import { heldBy } from '../atRest.js';
import type { Held } from '../atRest.js';
import { replaceStream } from '../replaceStream.js';
import { recordCall } from '../recordedCall.js';
import type { Told } from '../recordedCall.js';
import { hello, virtualGateway } from '../virtualGateway.js';
import type { VirtualGateway } from '../virtualGateway.js';
import type { PlannedCall, World } from './world.js';

export interface PlayedCall {
  readonly planned: PlannedCall;
  readonly callId: string;
  readonly told: readonly Told[];
}

/** A world that has been played to the end of virtual time. */
export interface Played {
  readonly world: World;
  readonly gateway: VirtualGateway;
  readonly calls: readonly PlayedCall[];
  /** Which script an attempt got. */
  readonly scriptOf: ReadonlyMap<string, readonly ScriptStep[]>;
  /** What was held when the last call told its end, and at the end of time. */
  readonly left: readonly Held[];
}

export const abortReason = 'the caller has had enough';

/** How the calls of a world are made. */
export type Ask = (gateway: VirtualGateway, request: ChatRequest, options: CallOptions) => Observable<unknown>;

const wholeAnswer: Ask = ({ chat$ }, request, options) => chat$(request, options);

export function playWorld(world: World, scheduler: TestScheduler, ask = wholeAnswer): Played {
  const gateway = virtualGateway(world.sources, scheduler, world.policy);
  const scriptOf = noteScripts(world, gateway);
  const calls: PlayedCall[] = [];
  const left: Held[] = [];
  const plans = new Set<unknown>();
  const plan = (atMs: number, act: () => void): void => void plans.add(scheduler.schedule(act, atMs));
  let running = world.calls.length;

  for (const planned of world.calls) {
    const controller = new AbortController();
    let leave = (): void => undefined;
    if (planned.ends?.how === 'abort') plan(planned.ends.atMs, () => controller.abort(abortReason));
    plan(planned.atMs, () => {
      const call$ = ask(gateway, { ...hello, stream: planned.stream }, { signal: controller.signal });
      const before = gateway.events.length;
      const recorded = recordCall(call$, scheduler, () => {
        running -= 1;
        if (running === 0) left.push(heldBy([gateway], scheduler, plans));
      });
      const started = gateway.events[before];
      calls.push({ planned, callId: started?.type === 'call-started' ? started.callId : '', told: recorded.told });
      leave = recorded.leave;
    });
    if (planned.ends?.how === 'leave') plan(planned.ends.atMs, () => leave());
  }
  flushTo(scheduler, 100_000);
  left.push(heldBy([gateway], scheduler));
  return { world, gateway, calls, scriptOf, left };
}

/** `flush` that gives up on a world in which something happens for ever. */
function flushTo(scheduler: TestScheduler, turns: number): void {
  for (let turn = 0; turn < turns; turn++) {
    const action = scheduler.actions.shift();
    if (action === undefined) return;
    scheduler.frame = action.delay;
    const error = action.execute(action.state, action.delay) as Error | undefined;
    if (error !== undefined) throw error;
  }
  throw new Error(`still busy at ${scheduler.frame} ms`);
}

function noteScripts(world: World, gateway: VirtualGateway): Map<string, readonly ScriptStep[]> {
  const scriptOf = new Map<string, readonly ScriptStep[]>();
  gateway.sources.forEach((source, at) => {
    const scripts = world.sources[at]!.scripts;
    replaceStream(source, (scripted) => (request, context) =>
      defer(() => {
        scriptOf.set(context.attemptId, scripts[Math.min(source.requests.length, scripts.length - 1)]!);
        return scripted(request, context);
      }));
  });
  return scriptOf;
}
