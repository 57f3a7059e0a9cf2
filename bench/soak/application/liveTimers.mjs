/** Those that keep no process alive count too, which Node does not tell of. Import this before what is watched. */
let made = [];

for (const name of ['setTimeout', 'setInterval']) {
  const original = globalThis[name];
  globalThis[name] = Object.assign((...args) => {
    const timer = original(...args);
    made.push(new WeakRef(timer));
    return timer;
  }, original);
}

export function liveTimers() {
  made = made.filter((reference) => reference.deref()?._destroyed === false);
  return made.length;
}
