/** A wake-up that comes this late shows that the loop was blocked (T3). */
const lateMs = 50;
/** How long the loop must then run freely before anything is judged: bodies unpacked on the thread pool come after the poll. */
const graceMs = 50;
/** A loop that is never free must not hold timers up for ever. */
const maxGraces = 5;
/** The last stretch is slept apart, so that a block which ends shortly before the due time is noticed too. */
const leadMs = lateMs + graceMs;

/** The one real timer of a scheduler; times are `performance.now()` milliseconds. */
export interface Alarm {
  /** Has `look` called when `dueMs` has come, unless something earlier is waited for. */
  set(this: void, dueMs: number, nowMs: number): void;
  /** Nothing is waited for any more, and the process may end. */
  clear(this: void): void;
}

/**
 * Calls `look` when something is due: one poll phase after the real timer, and not before the loop has run freely for
 * 50 ms if it was blocked (T3). `look` returns the next due time, `Infinity` for none.
 */
export function createAlarm(look: (nowMs: number) => number): Alarm {
  let dueMs = Infinity;
  let wakeMs = Infinity;
  let graces = 0;
  let timer: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;

  const sleepUntil = (untilMs: number, nowMs: number): void => {
    clearTimeout(timer);
    clearImmediate(turn);
    wakeMs = untilMs;
    if (untilMs <= nowMs) poll();
    else timer = setTimeout(poll, Math.ceil(untilMs - nowMs));
  };

  // Node runs timers before it reads sockets; the immediate lets the poll phase come first.
  const poll = (): void => {
    turn = setImmediate(wake);
  };

  const wake = (): void => {
    const nowMs = performance.now();
    const blocked = nowMs - wakeMs > lateMs;
    wakeMs = Infinity;
    if (blocked && graces < maxGraces && dueMs < Infinity) {
      graces += 1;
      sleepUntil(nowMs + graceMs, nowMs);
      return;
    }
    graces = 0;
    if (nowMs >= dueMs) dueMs = look(nowMs);
    // What was looked at may itself have blocked the loop: the leg counts from before, the sleep from now.
    if (dueMs < Infinity) sleepUntil(legEndMs(dueMs, nowMs), performance.now());
  };

  return {
    set: (wantedMs, nowMs) => {
      if (wantedMs >= dueMs) return;
      dueMs = wantedMs;
      timer?.ref();
      // A grace is not cut short, nor a sleep that is overdue: it has a block to notice.
      const endMs = legEndMs(dueMs, nowMs);
      if (graces === 0 && wakeMs > endMs) sleepUntil(endMs, nowMs);
    },
    clear: () => {
      dueMs = Infinity;
      // Not cleared: a lone stream that is marked again and again would pay for a new timer each time.
      timer?.unref();
    },
  };
}

function legEndMs(dueMs: number, nowMs: number): number {
  return dueMs - nowMs > leadMs ? dueMs - leadMs : dueMs;
}
