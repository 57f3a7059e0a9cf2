// Prints what `import 'NAME'` loads, as JSON: the files of modules, CommonJS ones included.
//   node spec/package/loadedBy.mjs NAME [FOLDER to import from]
import { createRequire, register } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';

const [name, folder = '.'] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const { port1, port2 } = new MessageChannel();
const hooks = `
  let port;
  export function initialize(data) { port = data.port; }
  export async function load(url, context, next) { port.postMessage(url); return next(url, context); }
  export async function resolve(specifier, context, next) {
    return next(specifier, context.parentURL?.startsWith('data:') ? { ...context, parentURL: ${JSON.stringify(pathToFileURL(join(folder, 'importer.mjs')).href)} } : context);
  }`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`, { data: { port: port2 }, transferList: [port2] });
await import(`data:text/javascript,${encodeURIComponent(`import ${JSON.stringify(name)};`)}`);

const urls = [];
for (let message; (message = receiveMessageOnPort(port1)) !== undefined; ) urls.push(message.message);
port1.close();
const files = urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url));
console.log(JSON.stringify([...new Set([...files, ...Object.keys(require.cache)])].filter((file) => file !== fileURLToPath(import.meta.url))));
