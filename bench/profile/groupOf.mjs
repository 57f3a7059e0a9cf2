import { pathToFileURL } from 'node:url';
import { builtFolder, repository } from '../support/places.mjs';

const built = `${pathToFileURL(builtFolder).href}/`;
const bench = pathToFileURL(`${repository}/bench`).href;
const packageGroups = { undici: 'undici', 'eventsource-parser': 'parser', rxjs: 'rxjs' };

/** Whose a frame is: a few large groups, and our own code by folder. */
export function groupOf({ functionName, url }) {
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (url === '') return 'kernel and native code';
  if (url.startsWith('node:')) return 'node';
  if (url.includes('/node_modules/')) return packageGroups[packageOf(url)] ?? packageOf(url);
  const [first] = placeOf(url).split('/').slice(1);
  if (url.startsWith(built)) return `polygateway/${first}`;
  return url.startsWith(bench) ? 'the bench itself' : 'other';
}

/** The file as one would name it: from its package, or from `dist`. */
export function placeOf(url) {
  const place = url.startsWith(built) ? `dist/${url.slice(built.length)}` : url.replace(/^.*\/node_modules\//, '');
  return place.replace(/^file:\/\//, '').replace(/^.*\/dist\//, (path) => (url.includes('/node_modules/') ? path : 'dist/')).replace(/\?.*$/, '');
}

function packageOf(url) {
  return /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)[1];
}
