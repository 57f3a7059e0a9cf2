/** How far a timeline gets until it is complete, until one gap is over `limitMs`, or until `untilMs`. */
export function run({ gaps, tokensPerDelta }, { limitMs = Infinity, untilMs = Infinity } = {}) {
  let ms = 0;
  let deltas = 0;
  for (const gap of gaps) {
    const waited = Math.min(gap, limitMs);
    if (ms + waited > untilMs) return { ms: untilMs, tokens: deltas * tokensPerDelta, done: false };
    ms += waited;
    if (gap > limitMs) return { ms, tokens: deltas * tokensPerDelta, done: false };
    deltas += 1;
  }
  return { ms, tokens: deltas * tokensPerDelta, done: true };
}
