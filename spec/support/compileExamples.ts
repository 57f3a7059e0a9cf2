import ts from 'typescript';

/** Where the names that an example uses without an import may come from, and what is declared around it. */
export interface ExampleWorld {
  readonly modules: readonly string[];
  readonly declared: string;
  readonly options: ts.CompilerOptions;
  readonly folder: string;
}

/** What the compiler says of each example, by its name; those that compile are left out. */
export function compileExamples(examples: Readonly<Record<string, string>>, world: ExampleWorld): Record<string, string[]> {
  const { modules, declared, options, folder } = world;
  const files = Object.fromEntries(Object.keys(examples).map((name, at) => [`${folder}/example${at}.ts`, name] as const));
  const index = `${folder}/modules.ts`;
  const parsed = new Map<string, ts.SourceFile>();
  const texts = new Map([[index, modules.map((module) => `import '${module}';`).join('\n')]]);
  const disk = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (file) => texts.has(file) || disk.fileExists(file),
    getSourceFile(file, target) {
      const text = texts.get(file);
      const source = parsed.get(file) ?? (text === undefined ? disk.getSourceFile(file, target) : ts.createSourceFile(file, text, target, true));
      if (source !== undefined) parsed.set(file, source);
      return source;
    },
  };

  const origins = originsIn(ts.createProgram([index], options, host), index);
  for (const [file, name] of Object.entries(files)) texts.set(file, moduleOf(examples[name] ?? '', declared, origins));
  const program = ts.createProgram(Object.keys(files), options, host);
  return Object.fromEntries(
    Object.entries(files).flatMap(([file, name]) => {
      const source = program.getSourceFile(file);
      const said = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
      return said.length === 0 ? [] : [[name, said.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))] as const];
    }),
  );
}

/** Every name that the modules export, with the first one that does. */
function originsIn(program: ts.Program, index: string): Map<string, string> {
  const checker = program.getTypeChecker();
  const origins = new Map<string, string>();
  for (const statement of program.getSourceFile(index)?.statements ?? []) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const module = checker.getSymbolAtLocation(statement.moduleSpecifier);
    for (const { name } of module === undefined ? [] : checker.getExportsOfModule(module)) {
      if (name !== 'default' && !origins.has(name)) origins.set(name, statement.moduleSpecifier.text);
    }
  }
  return origins;
}

function moduleOf(code: string, declared: string, origins: ReadonlyMap<string, string>): string {
  const own = new Set([...`${declared}\n${code}`.matchAll(/(?:const|let|class|function) (\w+)/g)].map(([, name]) => name));
  const used = new Set(`${code}\n${declared}`.match(/[A-Za-z_$][\w$]*/g));
  const imports = [...used].flatMap((name) => (origins.has(name) && !own.has(name) && !code.includes('import ') ? [`import { ${name} } from '${origins.get(name)}';`] : []));
  const body = code.includes('import ') ? code : `export async function* example() {\n${code}\n}`;
  return [...imports, declared, body].join('\n');
}
