import ts from 'typescript';

/** Types of other files that stand in the signatures behind entry points, but cannot be imported from any of them. */
export function unexportedTypes(entries: readonly string[]): string[] {
  const program = ts.createProgram(entries, { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, types: ['node'] });
  const checker = program.getTypeChecker();
  const original = (symbol: ts.Symbol): ts.Symbol => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol);
  const exported = new Set(entries.flatMap((entry) => checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry)!)!)).map(original));
  const seen = new Set<ts.Symbol>();
  const missing = new Set<string>();

  const visit = (node: ts.Node): void => {
    // What a function does inside is no signature.
    if (ts.isBlock(node)) return;
    if (ts.isTypeReferenceNode(node) || ts.isExpressionWithTypeArguments(node)) {
      const symbol = checker.getSymbolAtLocation(ts.isTypeReferenceNode(node) ? node.typeName : node.expression);
      if (symbol !== undefined) follow(original(symbol));
    }
    ts.forEachChild(node, visit);
  };
  const follow = (symbol: ts.Symbol): void => {
    const declarations = (symbol.declarations ?? []).filter((node) => isOurs(node.getSourceFile()));
    if (seen.has(symbol) || declarations.length === 0 || symbol.flags & ts.SymbolFlags.TypeParameter) return;
    seen.add(symbol);
    if (!exported.has(symbol) && declarations.some((node) => ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Export)) {
      missing.add(symbol.name);
    }
    declarations.forEach(visit);
  };
  for (const symbol of exported) follow(symbol);
  return [...missing].sort();
}

function isOurs(file: ts.SourceFile): boolean {
  return !file.fileName.includes('/node_modules/');
}
