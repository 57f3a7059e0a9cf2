// Makes the package look as if it were not installed.
import Module from 'node:module';

const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, ...more) {
  if (request !== '@opentelemetry/api') return resolve.call(this, request, ...more);
  globalThis.askedForApi = (globalThis.askedForApi ?? 0) + 1;
  throw Object.assign(new Error(`Cannot find module '${request}'`), { code: 'MODULE_NOT_FOUND' });
};
