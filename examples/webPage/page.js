const form = document.querySelector('form');
const [text, silence, figures] = ['#text', '#silence', '#figures'].map((name) => document.querySelector(name));
const nothing = () => undefined;
let stop = nothing;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  stop();
  text.textContent = silence.textContent = figures.textContent = '';
  stop = ask(new URLSearchParams(new FormData(form)));
});
document.querySelector('#stop').addEventListener('click', () => stop());

/** Shows the answer as it comes. Stopping closes the connection, and with it the call, up to the source's socket. */
function ask(question) {
  const source = new EventSource(`/answer?${question}`);
  const on = (type, show) => source.addEventListener(type, ({ data }) => show(JSON.parse(data)));
  const end = (words) => {
    source.close();
    stop = nothing;
    silence.textContent = '';
    figures.textContent = words;
  };

  on('text', (said) => {
    text.append(said.text);
    silence.textContent = '';
  });
  on('silence', ({ silentMs }) => (silence.textContent = `silent for ${Math.round(silentMs / 1000)} s`));
  on('figures', ({ source: from, generationMs, stallMs, hedges }) => end(`${from}: ${generationMs} ms net, ${stallMs ?? 0} ms silent, ${hedges} hedges`));
  on('failure', ({ code }) => end(`Not whole: ${code}`));
  // Left to itself, an EventSource connects again, which would ask the question a second time.
  source.onerror = () => end('The connection was lost.');
  return () => end('Stopped.');
}
