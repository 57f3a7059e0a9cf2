import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';

const samplingUs = 200;

/** Samples this thread from `start()` until `save(file)`. */
export function recordProfile() {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: samplingUs });
  return {
    start: () => session.post('Profiler.start'),
    save: (file) => session.post('Profiler.stop', (error, { profile } = {}) => writeFileSync(file, JSON.stringify(error ?? profile))),
  };
}
