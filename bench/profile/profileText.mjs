const percent = (tookUs, ofUs) => `${((100 * tookUs) / ofUs).toFixed(1).padStart(6)} %`;

/** What `readProfile` summed, as text: groups, then the functions that took most. */
export function profileText({ busyUs, idleUs, ...sums }, top = 30, parts = ['groups', 'functions']) {
  const titles = { groups: 'self time by group', functions: 'self time by function', modules: 'self time by module', within: 'time within a module and what it called' };
  const list = (part) => [...sums[part]].sort(([, one], [, other]) => other - one).slice(0, top).map(([name, tookUs]) => `${percent(tookUs, busyUs)}  ${name}`);
  const blocks = parts.map((part) => [titles[part], ...list(part)].join('\n'));
  return [`busy ${(busyUs / 1e6).toFixed(1)} s, idle ${(idleUs / 1e6).toFixed(1)} s`, ...blocks].join('\n\n');
}
