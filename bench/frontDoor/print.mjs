const shares = ['min', 'p50', 'p90', 'p99', 'p999', 'max'];

export function print({ load, straight, through, clean }) {
  console.log(`${load.clients} clients, ${load.rate} deltas/s each, ${load.seconds} s after ${load.warmUpS} s of warm-up\n`);
  for (const which of ['all', 'quiet']) {
    if (through[which].windows === 0) continue;
    const title = which === 'all' ? '' : `, where others left the machine alone (${[straight, through].filter(Boolean).map((run) => run.quiet.windows).join(' and ')} windows of ${load.windowS} s)`;
    row(`ms per delta${title}`, ['min', 'p50', 'p90', 'p99', 'p99.9', 'max', 'deltas']);
    if (straight !== undefined) latencies('straight at the upstream', straight[which].latencies);
    latencies('through serve', through[which].latencies);
    if (straight !== undefined) latencies('difference', difference(through[which].latencies, straight[which].latencies));
    latencies('the upstream was late by', through[which].lateness);
    console.log();
  }
  if (straight !== undefined) printRun('straight', straight, load);
  printRun('through serve', through, load);
  row('serve at rest', ['rss MB', 'heap MB', 'sockets', 'calls', 'attempts', 'waiting', 'permits']);
  for (const when of ['before', 'after']) atRest(when, through[when]);
  console.log(`\nrequests that the upstream saw ${JSON.stringify(through.upstream)}\nrows ${JSON.stringify(through.rows)}\n${clean ? 'nothing stayed behind' : 'SOMETHING STAYED BEHIND OR WAS WRONG'}`);
}

function difference(of, from) {
  return Object.fromEntries(shares.map((share) => [share, of[share] - from[share]]));
}

function printRun(name, { windows, counts: { streams, whole, aborted, deltas, reads, wrong, wrongCount }, clocks }) {
  console.log(`${name}: ${streams} streams, ${whole} whole, ${aborted} left by their clients, ${wrongCount} wrong; ${deltas} deltas in ${reads} reads`);
  for (const text of wrong) console.log(`  wrong: ${text}`);
  console.log(`  clocks apart: ${Object.entries(clocks).map(([of, { apartMs, errorMs }]) => `${of} ${apartMs.toFixed(3)} ms (+-${errorMs.toFixed(3)})`).join(', ')}`);
  const hasServe = windows[0].cores.serve !== undefined;
  row('cores', [...Object.keys(windows[0].cores), 'deltas/s', ...(hasServe ? ['us/delta', 'rss MB', 'heap MB', 'sockets', 'calls', 'loop p50', 'loop p99', 'max ms'] : [])]);
  for (const window of windows) row('', [...Object.values(window.cores).map(fixed), ...rateOf(window), ...(hasServe ? serveOf(window) : [])]);
  console.log();
}

/** Deltas a second, and the processor time of serve for each, with all that its calls cost. */
function rateOf({ latencies, tookS, cores }) {
  const count = latencies.reduce((sum, [, times]) => sum + times, 0);
  return [Math.round(count / tookS), ...(cores.serve === undefined ? [] : [Math.round((cores.serve * tookS * 1e6) / count)])];
}

function serveOf({ rss, heapUsed, sockets, calls, loopDelayMs }) {
  return [mb(rss), mb(heapUsed), sockets, calls, ...Object.values(loopDelayMs).map(fixed)];
}

function latencies(name, figures) {
  row(name, [...shares.map((share) => fixed(figures[share])), figures.count ?? '']);
}

function atRest(when, { rss, heapUsed, sockets, calls, attempts, waiting, permits, resources }) {
  row(when, [mb(rss), mb(heapUsed), sockets, calls, attempts, waiting, permits, `  ${JSON.stringify(resources)}`]);
}

function row(name, cells) {
  if (name.length > 25) console.log(name);
  console.log((name.length > 25 ? '' : name).padEnd(26) + cells.map((cell) => String(cell).padStart(9)).join(''));
}

function fixed(value) {
  return value.toFixed(2);
}

function mb(bytes) {
  return (bytes / 2 ** 20).toFixed(1);
}
