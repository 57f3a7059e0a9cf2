const advice: Readonly<Record<string, string>> = {
  wrong_use: 'see --help of the command',
  config: '`polygateway doctor` shows the settings of a scope, `--env-file FILE` reads them from a file',
  transient: 'try again; if it stays, `polygateway doctor --probe` tells which source answers',
  rate_limited: 'wait and try again, or add a source',
  source: 'look at this source\'s key, credit, model name and address; `polygateway doctor --probe` asks each source',
  request: 'change the request: no source will take it as it is',
  governance_backend: 'look at the shared backend; nothing is admitted while it cannot be reached',
  call_deadline: 'raise CALL__DEADLINE_S, or ask for a shorter answer',
  closed: 'start it again',
  timeline: '`polygateway upstream --help` lists the words of a script',
  retry_exhausted: 'try again later, raise RETRY__MAX_ATTEMPTS, or add a source',
  stalled: 'try again later; BACKPRESSURE__STALL_WINDOW_S says how long a call may wait',
  no_runnable_source: 'look at the causes; `polygateway doctor --probe` asks each source',
  nothing_to_watch: 'start the process with LLM__TELEMETRY__WATCH=auto, or give the path of its socket',
  EADDRINUSE: 'another program has this port: choose another with --port, or 0 for any free one',
  EACCES: 'this port or file is not for you: choose another',
};

/** What the user can do about an error; `undefined` if we know nothing better than its message. */
export function adviceFor({ code, reason }: { code?: string | undefined; reason?: string | undefined }): string | undefined {
  return advice[reason ?? ''] ?? advice[code ?? ''];
}
