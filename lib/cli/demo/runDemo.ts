import { messageOf } from '../../model/errors.js';
import { exitCodes } from '../exitCodes.js';
import { tellTrouble } from '../tellTrouble.js';
import type { Terminal } from '../terminal.js';
import { createCallTrace } from './callTrace.js';
import { openDemoDatabase } from './demoDatabase.js';
import type { DemoDatabase } from './demoDatabase.js';
import { demoFigures } from './demoFigures.js';
import type { DemoFigures } from './demoFigures.js';
import { planDemo } from './demoPlan.js';
import { openRig } from './demoRig.js';
import { closingLines, headerLines } from './demoTexts.js';
import { layoutFor } from './drawCall.js';
import { playCalls } from './playCalls.js';
import { liveStage, plainStage, silentStage } from './stage.js';
import type { Stage } from './stage.js';

export interface DemoOptions {
  readonly calls: number;
  readonly seed: number;
  readonly db: string | undefined;
  readonly plain: boolean;
  readonly json: boolean;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

const stallThresholdMs = 1000;
const hedgeStallAfterS = 1;

/** Plays the demo: header, one picture a call, the table. Rejects with the signal's reason when it is stopped. */
export async function runDemo(options: DemoOptions): Promise<number> {
  const { calls, seed, db, json, terminal: { out, err } } = options;
  const database = openDemoDatabase(db);
  const stage = stageOf(options);
  try {
    stage.keep(headerLines({ calls, seed, hedgeStallAfterS, layout: layoutFor(out.columns), paint: out.paint }));
    const figures = await play(options, stage, database);
    if (json) out.line(JSON.stringify(figures, null, 2));
    else stage.keep(closingLines(figures, { paint: out.paint, keptIn: db === undefined ? undefined : database?.file }));
    const problem = problemOf(figures);
    if (problem !== undefined) err.line(`${err.paint('red', 'error')} ${problem}`);
    return problem === undefined ? exitCodes.done : exitCodes.failed;
  } finally {
    stage.close();
    database?.remove();
  }
}

function stageOf({ plain, json, terminal: { out, env } }: DemoOptions): Stage {
  if (json) return silentStage;
  return plain || !out.isTerminal || env['TERM'] === 'dumb' ? plainStage(out) : liveStage(out);
}

async function play(options: DemoOptions, stage: Stage, database: DemoDatabase | undefined): Promise<DemoFigures> {
  const { calls, seed, db, terminal: { out, err }, signal } = options;
  const plan = planDemo({ calls, seed, stallThresholdMs });
  const trace = createCallTrace();
  const callIds: string[] = [];
  const rig = await openRig({ plan, stallThresholdMs, hedgeStallAfterS, telemetryUrl: database?.url, onIncrement: trace.onIncrement });
  const trouble = tellTrouble(rig.gateway.events$, err);
  const following = rig.gateway.events$.subscribe({
    next: (event) => {
      if (event.type === 'call-started') callIds.push(event.callId);
      trace.onEvent(event);
    },
    error: (error: unknown) => err.line(messageOf(error)),
  });
  const end = async (): Promise<void> => {
    await rig.close();
    following.unsubscribe();
    trouble.unsubscribe();
  };

  const played = await playCalls({ plan, rig, trace, stage, screen: out, signal }).finally(end);
  return demoFigures(played, {
    seed,
    failed: calls - played.length,
    requests: rig.requests(),
    rows: database?.rowsOf(callIds) ?? null,
    database: db === undefined ? null : (database?.file ?? null),
  });
}

/** Both would be faults of this program. */
function problemOf({ failed, rows, requests }: DemoFigures): string | undefined {
  if (failed > 0) return `${failed} calls failed`;
  return rows === null || rows === requests ? undefined : `${requests} requests were sent, but ${rows} rows were written`;
}
