import { register } from 'node:module';

// Jest compiles a setup in TypeScript to CommonJS and then finds none of its imports that end in `.js`.
register('./typescriptLoader.mjs', import.meta.url);

let services;

export default async function startSharedServices() {
  const { startServices } = await import('./services.ts');
  services = await startServices();
}

export async function stopSharedServices() {
  await services?.stop();
  services = undefined;
}
