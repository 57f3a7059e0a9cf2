/** What an attempt says and when: each wait counts from what came before, and what takes no time comes with it. */
export interface AttemptPlan {
  readonly gapsMs: readonly number[];
  readonly end: { readonly type: 'complete' | 'fail' | 'never'; readonly afterMs: number };
  readonly isWeak: boolean;
}

export interface HedgePlan {
  readonly primary: AttemptPlan;
  /** In the order in which they are asked for; all others are refused. */
  readonly backups: readonly AttemptPlan[];
  readonly maxBackups: number;
  /** Limits of silence of the primary for the first backup, and of each attempt for the further ones. */
  readonly firstMs: number;
  readonly betweenMs: number;
  readonly againMs: number;
  /** When a step gets into the scheduler's queue: with the step before it, or when the attempt starts. */
  readonly planning: 'as they go' | 'all in advance';
}

export interface Story {
  /** Of the attempts in the order of their subscription: start, the time of the signal that asked for it, and end. */
  readonly attempts: { readonly startMs: number; readonly signalMs: number; endMs: number | undefined }[];
  result: { readonly atMs: number; readonly says: string } | undefined;
}

interface Step {
  readonly atMs: number;
  readonly place: number;
  readonly says: 'value' | 'complete' | 'fail';
}

interface Attempt {
  readonly at: number;
  readonly nth: number;
  readonly plan: AttemptPlan;
  readonly story: Story['attempts'][number];
  state: 'asked' | 'runs' | 'waits for its turn';
  steps: Step[];
  values: number;
  heardMs: number;
  silentMs: number | undefined;
}

/** What a hedge does, told millisecond by millisecond: no stream, no timer. */
export function plainHedge(plan: HedgePlan, untilMs: number): Story {
  const story: Story = { attempts: [], result: undefined };
  const failures: string[] = [];
  const unasked = [...plan.backups];
  let running: Attempt[] = [];
  let granted = 0;
  let places = 0;
  let held: string | undefined;
  let emptyPrimary = false;
  let nowMs = 0;

  function start(nth: number, attemptPlan: AttemptPlan, signalMs: number): void {
    const attempt: Attempt = { at: story.attempts.length, nth, plan: attemptPlan, story: { startMs: nowMs, signalMs, endMs: undefined }, state: nth === 0 ? 'runs' : 'asked', steps: [], values: 0, heardMs: nowMs, silentMs: undefined };
    story.attempts.push(attempt.story);
    running.push(attempt);
    let atMs = nowMs;
    const { gapsMs, end } = attemptPlan;
    for (const gapMs of gapsMs) attempt.steps.push({ atMs: (atMs += gapMs), place: 0, says: 'value' });
    if (end.type !== 'never') attempt.steps.push({ atMs: atMs + end.afterMs, place: 0, says: end.type });
    while (attempt.steps[0]?.atMs === nowMs && story.result === undefined) take(attempt);
    if (plan.planning === 'as they go') enqueueNext(attempt);
    else attempt.steps = attempt.steps.map((step) => ({ ...step, place: (places += 1) }));
  }

  function enqueueNext(attempt: Attempt): void {
    attempt.steps = attempt.steps.map((step, index) => (index === 0 ? { ...step, place: (places += 1) } : step));
  }

  /** The attempt's next step. */
  function take(attempt: Attempt): void {
    const step = attempt.steps.shift();
    if (step?.says === 'value') {
      attempt.values += 1;
      attempt.heardMs = nowMs;
      attempt.silentMs = undefined;
      attempt.state = 'runs';
      granted = Math.max(granted, attempt.nth);
      return;
    }
    attempt.story.endMs = nowMs;
    attempt.silentMs = undefined;
    if (step?.says === 'fail') fail(attempt);
    else if (attempt.values === 0) beEmpty(attempt);
    else if (attempt.nth === 0) complete(attempt);
    else attempt.state = 'waits for its turn';
  }

  function leave(attempt: Attempt): void {
    running = running.filter((other) => other !== attempt);
  }

  function fail(attempt: Attempt): void {
    leave(attempt);
    granted = Math.max(granted, attempt.nth);
    failures[attempt.nth] = `${attempt.at}`;
    ended();
  }

  function beEmpty(attempt: Attempt): void {
    leave(attempt);
    if (attempt.nth === 0) emptyPrimary = true;
    if (attempt.nth === 0 || running.length === 0) ended();
  }

  function complete(attempt: Attempt): void {
    leave(attempt);
    const won = `${attempt.nth === 0 ? 'primary' : 'backup'} wins with ${lastValue(attempt)}`;
    if (attempt.plan.isWeak) {
      held ??= won;
      ended();
    } else {
      finish(won);
    }
  }

  function finish(says: string): void {
    story.result = { atMs: nowMs, says };
    for (const attempt of running) attempt.story.endMs ??= nowMs;
  }

  function ended(): void {
    if (running.length > 0) askForFurther();
    else finish(held ?? (emptyPrimary ? 'nothing' : `failed: ${failures.join(' ')}`));
  }

  const mayStart = (): boolean => granted < plan.maxBackups && running.every(({ state }) => state === 'runs');
  const refused: AttemptPlan = { gapsMs: [], end: { type: 'complete', afterMs: 0 }, isWeak: false };
  const startNext = (signalMs: number): void => start(granted + 1, unasked.shift() ?? refused, signalMs);

  function askForFurther(): void {
    const silences = running.flatMap(({ silentMs }) => silentMs ?? []);
    if (granted > 0 && silences.length === running.length && mayStart()) startNext(Math.max(...silences));
  }

  function endSilences(): void {
    for (const attempt of [...running]) {
      if (story.result !== undefined || attempt.story.endMs !== undefined) continue;
      const quietMs = nowMs - attempt.heardMs;
      const limitMs = attempt.values === 0 ? plan.firstMs : plan.betweenMs;
      if (attempt.nth === 0 && quietMs === limitMs && granted === 0 && mayStart()) startNext(nowMs);
      if (plan.maxBackups > 1 && quietMs === plan.againMs) {
        attempt.silentMs = nowMs;
        askForFurther();
      }
    }
  }

  function next<T extends Attempt>(attempts: readonly T[], order: (attempt: T) => number): T | undefined {
    return story.result === undefined ? [...attempts].sort((one, other) => order(one) - order(other))[0] : undefined;
  }

  const speaking = (): Attempt | undefined => next(running.filter(({ steps }) => steps[0]?.atMs === nowMs), ({ steps }) => steps[0]?.place ?? 0);
  const waiting = (): Attempt | undefined => next(running.filter(({ state }) => state === 'waits for its turn'), ({ nth }) => nth);

  start(0, plan.primary, 0);
  for (; nowMs <= untilMs && story.result === undefined; nowMs += 1) {
    for (let attempt = speaking(); attempt !== undefined; attempt = speaking()) {
      take(attempt);
      while (plan.planning === 'as they go' && attempt.steps[0]?.atMs === nowMs) take(attempt);
      if (plan.planning === 'as they go') enqueueNext(attempt);
    }
    endSilences();
    for (let attempt = waiting(); attempt !== undefined; attempt = waiting()) complete(attempt);
  }
  return story;
}

function lastValue({ at, plan, values }: Attempt): string {
  return nameOf(at, plan, values - 1);
}

/** The attempt's value: its number, `weak` and the number of the value. */
export function nameOf(attempt: number, { isWeak }: AttemptPlan, value: number): string {
  return `${attempt}${isWeak ? 'weak' : '.'}${value}`;
}
