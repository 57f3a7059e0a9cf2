// A gate holds paced streams until all of them are there, and tells who asks for it that it has opened.
const gates = new Map();

/** Calls `begin`, which answers how to stop, when `size` streams wait; answers how to leave. */
export function atGate(name, size, begin) {
  const gate = gateOf(name);
  const stream = { begin, stop: () => gate.streams.delete(stream) };
  gate.streams.add(stream);
  if (gate.streams.size >= size) open(name, gate);
  return () => stream.stop();
}

export const whenOpen = (name, tell) => gateOf(name).watchers.push(tell);

function open(name, { streams, watchers }) {
  gates.delete(name);
  for (const tell of watchers) tell();
  for (const stream of streams) stream.stop = stream.begin();
}

function gateOf(name) {
  if (!gates.has(name)) gates.set(name, { streams: new Set(), watchers: [] });
  return gates.get(name);
}
