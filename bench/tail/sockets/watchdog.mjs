/** Aborts its signal after `silenceMs` without `heard()`; without a limit it never does. */
export function openWatchdog(silenceMs) {
  const controller = new AbortController();
  const timer = silenceMs === undefined ? undefined : setTimeout(() => controller.abort(new Error(`Silent for ${silenceMs} ms.`)), silenceMs);
  return { signal: controller.signal, heard: () => timer?.refresh(), stop: () => clearTimeout(timer) };
}
