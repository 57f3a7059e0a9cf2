import { join } from 'node:path';
import { Application, Comment, JSX, ReflectionKind } from 'typedoc';

/** What can be imported, in this order, and what each is for. */
const entryPoints = {
  'lib/index.ts': { name: 'polygateway', what: 'Gateways for chat, embeddings and OCR, settings, errors, typed answers and tools.' },
  'lib/operators/index.ts': { name: 'polygateway/operators', what: 'Operators of silence, limits and hedging for any Observable; loads nothing but RxJS.' },
  'lib/testing/index.ts': { name: 'polygateway/testing', what: 'The test kit: a real gateway in virtual time, marbles, assertions, recorded calls.' },
  'lib/testing/jest.ts': { name: 'polygateway/testing/jest', what: 'Importing it adds matchers to the `expect` of jest: `toHaveCalls` and the others of ', matchers: true },
  'lib/testing/vitest.ts': { name: 'polygateway/testing/vitest', what: 'Importing it adds matchers to the `expect` of vitest: `toHaveCalls` and the others of ', matchers: true },
};

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
  project.children?.forEach((module, at) => {
    const { name, what, matchers } = Object.values(entryPoints)[at];
    module.name = name;
    // How it extends the runner's own interfaces is nothing to read.
    if (matchers) {
      for (const own of [...(module.children ?? [])]) project.removeReflection(own);
      delete module.groups;
    }
    module.comment = new Comment([{ kind: 'text', text: what }, ...(matchers ? [matchersIn(project)] : [])]);
  });
  // What is taken apart in the signature has no name of its own.
  for (const parameter of project.getReflectionsByKind(ReflectionKind.Parameter)) if (parameter.name.startsWith('__')) parameter.name = 'options';
  app.validate(project);
  app.renderer.hooks.on('pageSidebar.begin', (context) => JSX.createElement('p', null, JSX.createElement('a', { href: context.relativeURL('../index.html') }, '← Guides')));
  app.renderer.hooks.on('content.begin', (context) => (context.page.model === project ? entryList(project, context) : JSX.createElement(JSX.Fragment, null)));
  await app.generateDocs(project, out);
  if (app.logger.hasWarnings() || app.logger.hasErrors()) throw new Error('typedoc complained: see above');
}

/** The first page says what each entry is for; the list below it holds the names alone. */
function entryList({ children = [] }, { urlTo }) {
  const entries = children.map((module) => JSX.createElement('li', null, JSX.createElement('a', { href: urlTo(module) }, module.name), ': ', module.comment.summary.map(({ text }) => text.replaceAll('`', '')).join('')));
  return JSX.createElement('ul', null, ...entries);
}

function matchersIn(project) {
  const target = project.getReflectionsByKind(ReflectionKind.Interface).find(({ name }) => name === 'GatewayMatchers');
  return { kind: 'inline-tag', tag: '@link', target, text: 'GatewayMatchers' };
}
