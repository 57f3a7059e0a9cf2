// Replies as fast as the reader takes them: one write for each stream and turn of the loop, so that streams advance side by side.
const running = new Set();
let armed = false;

/** `pieces`: what is written, a piece at a time; answers how to stop. */
export function writeFlatOut({ socket, pieces, onEnd }) {
  const stream = { socket, pieces, next: 0, blocked: false, onEnd };
  running.add(stream);
  arm();
  return () => running.delete(stream);
}

function turn() {
  armed = false;
  for (const stream of running) if (!stream.blocked) writeNext(stream);
  arm();
}

function writeNext(stream) {
  const goesOn = stream.socket.write(stream.pieces[stream.next++]);
  if (stream.next === stream.pieces.length) {
    running.delete(stream);
    stream.onEnd();
  } else if (!goesOn) {
    stream.blocked = true;
    stream.socket.once('drain', () => {
      stream.blocked = false;
      arm();
    });
  }
}

function arm() {
  if (armed || ![...running].some(({ blocked }) => !blocked)) return;
  armed = true;
  setImmediate(turn);
}
