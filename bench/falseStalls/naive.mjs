/** What one would write first: a timer that each piece of the body sets anew. It must be fooled, or the test shows nothing. */
export function openNaive({ baseUrl, silentMs, onDelta, onStall }) {
  const counts = [];
  return {
    async open(number) {
      counts[number] = 0;
      const { body } = await fetch(`${baseUrl}/chat/completions`, { method: 'POST', body: '{}' });
      let timer;
      for await (const bytes of body) {
        clearTimeout(timer);
        timer = setTimeout(() => onStall(`timer ${number}`), silentMs);
        counts[number] += framesIn(bytes);
        onDelta();
      }
    },
    counts: () => counts,
  };
}

// A frame ends with the only empty line it has.
const framesIn = (bytes) => Buffer.from(bytes).toString('latin1').split('\n\n').length - 1;
