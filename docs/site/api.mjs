import { join } from 'node:path';
import { Application, JSX } from 'typedoc';

const entryPoints = { 'lib/index.ts': 'polygateway', 'lib/operators/index.ts': 'polygateway/operators', 'lib/testing/index.ts': 'polygateway/testing' };

/** Writes the reference of the API from the docstrings. Throws if typedoc has anything to complain of. */
export async function buildApi({ root, out }) {
  const app = await Application.bootstrap({
    entryPoints: Object.keys(entryPoints).map((file) => join(root, file)),
    tsconfig: join(root, 'tsconfig.json'),
    name: 'polygateway',
    includeVersion: true,
    readme: 'none',
    excludePrivate: true,
    excludeInternal: true,
    excludeExternals: true,
    disableSources: true,
    githubPages: false,
    hideGenerator: true,
    // The compiler has its own step; here it would only take time.
    skipErrorChecking: true,
    // Stands for any text; whoever reads the signature needs no name for it.
    intentionallyNotExported: ['Word'],
    validation: { notExported: true, invalidLink: true, invalidPath: true, rewrittenLink: true, notDocumented: false, unusedMergeModuleWith: true },
    logLevel: 'Warn',
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('typedoc could not read the sources');
  project.children?.forEach((module, at) => (module.name = Object.values(entryPoints)[at]));
  app.validate(project);
  app.renderer.hooks.on('pageSidebar.begin', (context) => JSX.createElement('p', null, JSX.createElement('a', { href: context.relativeURL('../index.html') }, '← Guides')));
  await app.generateDocs(project, out);
  if (app.logger.hasWarnings() || app.logger.hasErrors()) throw new Error('typedoc complained: see above');
}
