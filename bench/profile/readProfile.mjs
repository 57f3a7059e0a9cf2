import { groupOf, placeOf } from './groupOf.mjs';

/**
 * Sums of a CPU profile (`node --cpu-prof`) without its first seconds, in µs: what was busy and idle, the self time of each function, of each
 * group of modules and of each module, and the time within each module and what it called.
 */
export function readProfile({ nodes, samples, timeDeltas }, skipS = 0) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  for (const node of nodes) for (const child of node.children ?? []) byId.get(child).parent = node;
  const sums = { busyUs: 0, idleUs: 0, functions: new Map(), groups: new Map(), modules: new Map(), within: new Map() };
  for (const [id, tookUs] of selfTimes(samples, timeDeltas, skipS * 1e6)) addNode(sums, byId.get(id), tookUs);
  return sums;
}

function selfTimes(samples, timeDeltas, skipUs) {
  const self = new Map();
  let passedUs = 0;
  samples.forEach((id, at) => {
    passedUs += timeDeltas[at];
    if (passedUs >= skipUs) add(self, id, timeDeltas[at]);
  });
  return self;
}

function addNode(sums, node, tookUs) {
  if (node.callFrame.functionName === '(idle)') {
    sums.idleUs += tookUs;
    return;
  }
  sums.busyUs += tookUs;
  add(sums.functions, functionOf(node), tookUs);
  add(sums.groups, groupOf(node.callFrame), tookUs);
  add(sums.modules, moduleOf(node), tookUs);
  // Each module once, however often it is on the stack.
  const modules = new Set();
  for (let at = node; at !== undefined; at = at.parent) modules.add(moduleOf(at));
  for (const module of modules) add(sums.within, module, tookUs);
}

function functionOf({ callFrame: { functionName, url, lineNumber } }) {
  return `${functionName || '(anonymous)'} ${url === '' ? '' : `${placeOf(url)}:${lineNumber + 1}`}`.trim();
}

function moduleOf({ callFrame: { functionName, url } }) {
  return url === '' ? functionName : placeOf(url);
}

function add(sums, name, tookUs) {
  sums.set(name, (sums.get(name) ?? 0) + tookUs);
}
