// Preloaded: both clocks of this process are off by `shiftS` from its start, and by `jumpS` more once `jumpAfterS` have passed.
const { shiftS, jumpS = 0, jumpAfterS = Infinity } = JSON.parse(process.env.CLOCK);

const trueDate = Date.now;
const trueNow = performance.now.bind(performance);
const startMs = trueNow();
const offMs = () => 1000 * (shiftS + (trueNow() - startMs > 1000 * jumpAfterS ? jumpS : 0));

Date.now = () => trueDate() + offMs();
Object.defineProperty(performance, 'now', { value: () => trueNow() + offMs() });
