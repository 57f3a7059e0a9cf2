/** Where the loop is blocked. */
export const places = {
  'data callback': (block, onNextDelta) => onNextDelta(block),
  'microtask after a delta': (block, onNextDelta) => onNextDelta(() => queueMicrotask(block)),
  setImmediate: (block) => setImmediate(block),
  timer: (block) => setTimeout(block, 10),
};
