import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const repository = fileURLToPath(new URL('../../', import.meta.url));
export const peersFolder = resolve(process.env.POLYGATEWAY_BENCH ?? join(tmpdir(), 'polygateway-bench'));
export const builtFolder = resolve(process.env.POLYGATEWAY_DIST ?? join(repository, 'dist'));

/** A module of the build that is measured: `importBuilt('operators/index.js')`. */
export const importBuilt = (path) => import(pathToFileURL(join(builtFolder, path)).href);

/** A package of the peers' folder, as a program there would import it. */
export async function importPeer(name) {
  const { load } = await import(pathToFileURL(join(peersFolder, 'load.mjs')).href).catch((cause) => {
    throw new Error(`No peers in ${peersFolder}: run \`node bench/install.mjs\`, or name their folder with POLYGATEWAY_BENCH.`, { cause });
  });
  return load(name);
}
