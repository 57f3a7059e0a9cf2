import { nowUs } from '../../support/clock.mjs';
import { chunked, stampedFrame } from './frames.mjs';

// One wheel of 1 ms slots for each period; streams are spread over its slots. By absolute time, so that a slow reader slows nothing down.
const wheels = new Map();

/** Writes a stamped frame each `periodMs`, `deltas` times; answers how to stop. */
export function writePaced({ socket, deltas, periodMs, onEnd }) {
  const wheel = wheels.get(periodMs) ?? newWheel(periodMs);
  const stream = { socket, left: deltas, onEnd };
  // 7 has no divisor in common with the periods in use, so that neighbours do not share a slot.
  wheel.place = (wheel.place + 7) % periodMs;
  const slot = wheel.slots[wheel.place];
  const remove = () => {
    if (slot.delete(stream)) wheel.live -= 1;
  };
  slot.add(stream);
  wheel.live += 1;
  start(wheel, periodMs);
  return remove;
}

function newWheel(periodMs) {
  const wheel = { slots: Array.from({ length: periodMs }, () => new Set()), place: 0, live: 0, atMs: 0, timer: undefined };
  wheels.set(periodMs, wheel);
  return wheel;
}

function start(wheel, periodMs) {
  if (wheel.timer !== undefined) return;
  wheel.atMs = Math.floor(nowUs() / 1000);
  wheel.timer = setInterval(() => {
    for (const untilMs = nowUs() / 1000; wheel.atMs <= untilMs; wheel.atMs += 1) turnSlot(wheel, wheel.slots[wheel.atMs % periodMs]);
    if (wheel.live > 0) return;
    clearInterval(wheel.timer);
    wheel.timer = undefined;
  }, 1);
}

function turnSlot(wheel, slot) {
  for (const stream of slot) {
    stream.socket.write(chunked(stampedFrame(nowUs())), 'latin1');
    stream.left -= 1;
    if (stream.left > 0) continue;
    slot.delete(stream);
    wheel.live -= 1;
    stream.onEnd();
  }
}
