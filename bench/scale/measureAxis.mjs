/**
 * Every contestant at every step, in turns, round after round. A measurement that fails is kept with its error: what breaks first is what is looked for.
 *
 * An axis is `{ title, notes, step, steps, quickSteps, mostRounds?, contestants, base?, figures, plots, conclusion?, open({ steps, quick, … }) -> { measure({ step,
 * contestant }), close() } }`; `figures` are heading and quantity of each column, the first of which is compared; `base` names the contestant that others
 * are compared with at the same step; `conclusion({ steps, measured })` is text below the table.
 */
export async function measureAxis({ axis, steps, rounds, options }) {
  const opened = await axis.open({ ...options, steps });
  const measured = [];
  try {
    for (let round = 1; round <= rounds; round += 1) {
      for (const step of steps) for (const contestant of axis.contestants) measured.push(await measureOne({ axis, opened, round, step, contestant }));
    }
  } finally {
    await opened.close();
  }
  return measured;
}

async function measureOne({ axis, opened, round, step, contestant }) {
  const figures = await opened.measure({ step, contestant }).catch(({ message }) => ({ error: message }));
  if (process.stderr.isTTY || figures.error !== undefined) console.error(`round ${round}, ${step} ${axis.step}, ${contestant}${figures.error === undefined ? '' : `: ${figures.error}`}`);
  return { round, step, contestant, ...figures };
}
