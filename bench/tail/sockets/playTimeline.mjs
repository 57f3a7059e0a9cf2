import { mark } from './markedText.mjs';
import { timeScale } from './timeScale.mjs';

/**
 * Writes the deltas of a timeline to a response, by absolute times, so that a slow reader does not slow it down. `standstillMs(now)`
 * is for how long the sources have stood still up to now; a stream loses as much as fell into its own life.
 */
export function playTimeline({ response, attempt, timeline, standstillMs, onDelta, onEnd }) {
  const [beganMs, stoodMs] = [performance.now(), standstillMs(performance.now())];
  const dueMs = cumulated(timeline.gaps);
  let said = 0;
  let timer = setTimeout(speak, dueMs[0]);

  function speak() {
    const now = performance.now();
    const livedMs = now - beganMs - (standstillMs(now) - stoodMs);
    let text = '';
    while (said < dueMs.length && dueMs[said] <= livedMs + 0.5) {
      text += event({ delta: { content: mark(attempt, said, dueMs.length) }, finish_reason: null });
      said += 1;
      onDelta();
    }
    if (said === dueMs.length) return finish(text);
    if (text !== '') response.write(text);
    timer = setTimeout(speak, Math.max(1, dueMs[said] - livedMs));
  }

  function finish(text) {
    timer = undefined;
    onEnd();
    response.end(`${text}${event({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`);
  }

  return () => clearTimeout(timer);
}

export const opening = () => event({ delta: { role: 'assistant', content: '' }, finish_reason: null });

function event(choice) {
  const fields = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, ...choice }] };
  return `data: ${JSON.stringify(fields)}\n\n`;
}

function cumulated(gaps) {
  let atMs = 0;
  return gaps.map((gapMs) => (atMs += gapMs / timeScale));
}
