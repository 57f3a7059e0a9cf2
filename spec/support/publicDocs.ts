import ts from 'typescript';

/** What the docstring of an exported name, or of one of its members, says. */
export interface PublicDoc {
  /** `polygateway/operators: hedge`, `polygateway: Gateway.chat$`. */
  readonly name: string;
  readonly kind: 'function' | 'type' | 'class' | 'method' | 'field';
  readonly text: string;
  /** The docstring of the type that it belongs to. */
  readonly above: string;
  /** What it gives has to be unsubscribed from, or cancelled. */
  readonly isStream: boolean;
  /** It is optional, or may be `null`, or is a number. */
  readonly needs: readonly ('default' | 'null' | 'unit')[];
}

const streams = ['Observable', 'OperatorFunction', 'MonoTypeOperatorFunction', 'AsyncIterableIterator', 'ReadableStream', 'ChatStream'];

/** The docstrings of all that entry points export, with the members of interfaces. */
export function publicDocs(program: ts.Program, entries: Readonly<Record<string, string>>): PublicDoc[] {
  const checker = program.getTypeChecker();
  return Object.entries(entries).flatMap(([entry, file]) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file)!)!;
    return checker.getExportsOfModule(module).flatMap((exported) => {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      return docsOf(symbol, `${entry}: ${exported.name}`, checker);
    });
  });
}

function docsOf(symbol: ts.Symbol, name: string, checker: ts.TypeChecker): PublicDoc[] {
  const declarations = symbol.declarations ?? [];
  const [first] = declarations;
  if (first === undefined) return [];
  const text = declarations.map(docstring).find((found) => found !== '') ?? '';
  const kind = ts.isClassDeclaration(first) ? 'class' : isCallable(first, checker) ? 'function' : 'type';
  const own = { name, kind, text, above: '', isStream: kind === 'function' && givesStream(first, checker), needs: [] } as const;
  if (!ts.isInterfaceDeclaration(first)) return [own];
  // Also those that it has from other types: they are what a user sees.
  const properties = checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol));
  return [own, ...properties.flatMap((property) => memberDocs(property, own, checker))];
}

function memberDocs(property: ts.Symbol, { name: owner, text }: PublicDoc, checker: ts.TypeChecker): PublicDoc[] {
  const member = (property.declarations ?? []).find((node) => !node.getSourceFile().fileName.includes('/node_modules/'));
  if (member === undefined) return [];
  const base = { name: `${owner}.${property.name}`, text: docstring(member), above: `${text} ${ts.isInterfaceDeclaration(member.parent) ? docstring(member.parent) : ''}` };
  if (ts.isMethodSignature(member)) return [{ ...base, kind: 'method', isStream: givesStream(member, checker), needs: [] }];
  const type = checker.getTypeOfSymbol(property);
  const parts = type.isUnion() ? type.types : [type];
  const has = (flag: ts.TypeFlags): boolean => parts.some(({ flags }) => flags & flag);
  const needs = [
    ...(property.flags & ts.SymbolFlags.Optional ? (['default'] as const) : []),
    ...(has(ts.TypeFlags.Null) ? (['null'] as const) : []),
    ...(has(ts.TypeFlags.NumberLike) ? (['unit'] as const) : []),
  ];
  return [{ ...base, kind: 'field', isStream: false, needs }];
}

function isCallable(node: ts.Node, checker: ts.TypeChecker): boolean {
  if (ts.isFunctionDeclaration(node)) return true;
  return ts.isVariableDeclaration(node) && checker.getTypeAtLocation(node).getCallSignatures().length > 0;
}

function givesStream(node: ts.Node, checker: ts.TypeChecker): boolean {
  return checker
    .getTypeAtLocation(node)
    .getCallSignatures()
    .map((signature) => signature.getReturnType())
    .flatMap((type) => (type.isIntersection() ? type.types : [type]))
    .some((type) => streams.includes(type.getSymbol()?.name ?? ''));
}

/** As it stands in the file, without the stars: the columns of its diagrams matter. */
function docstring(node: ts.Node): string {
  const holder = ts.isVariableDeclaration(node) ? node.parent.parent : node;
  const file = holder.getSourceFile().text;
  const comments = ts.getLeadingCommentRanges(file, holder.getFullStart()) ?? [];
  const last = comments.map(({ pos, end }) => file.slice(pos, end)).findLast((comment) => comment.startsWith('/**'));
  return (last ?? '').replace(/^\/\*\*|\*\/$/g, '').replace(/^[ \t]*\* ?/gm, '').trim();
}

/** The indented blocks of a docstring that are code, not diagrams. */
export function examplesOf(text: string): string[] {
  const blocks = `\n\n${text}\n\n`.matchAll(/\n\n((?: {4,}.*\n|\n(?= {4}))+)/g);
  return [...blocks].map(([, block = '']) => block.replace(/^ {4}/gm, '').trimEnd()).filter((block) => !isDiagram(block));
}

function isDiagram(block: string): boolean {
  return /^[\w$ ]+: /.test(block);
}
