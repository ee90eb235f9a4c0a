import { join } from 'node:path'
import ts from 'typescript'
import { publishedWorkspaces, ROOT } from '../workspaces.ts'

const PACKAGES = ['sallyport', 'sallyport/better-auth', '@sallyport/ledger/verify', '@sallyport/core/signing']

/** The declarations of what customers import, by the name that it is imported by. */
export const ENTRIES: ReadonlyMap<string, string> = new Map(
  publishedWorkspaces().flatMap(({ folder, manifest }) =>
    Object.entries(manifest.exports ?? {}).flatMap(([path, target]) => {
      const name = join(manifest.name, path)
      const isPublic = folder.startsWith('adapters/') ? path !== './internal' : PACKAGES.includes(name)
      return typeof target === 'string' || !isPublic ? [] : [[name, join(ROOT, folder, target['types'] ?? '')] as const]
    }),
  ),
)

export const PUBLIC: readonly string[] = [...ENTRIES.keys()]

/** Reads the names that each entry exports, without the types of the language where a name is enough. */
export function readSurface(options: ts.CompilerOptions = { noLib: true, types: [] }) {
  const { NodeNext: module } = ts.ModuleKind
  const program = ts.createProgram([...ENTRIES.values()], { module, target: ts.ScriptTarget.ES2023, ...options })
  const checker = program.getTypeChecker()
  const exported = [...ENTRIES].map(([name, file]) => {
    const source = program.getSourceFile(file)
    const found = source && checker.getSymbolAtLocation(source)
    if (found === undefined) throw new Error(`${file} is not a built module`)
    return [name, checker.getExportsOfModule(found)] as const
  })
  return { checker, exported }
}

/** Lists every public name, a line each below its package: `NAME` for a value, `type Name` for what is a type alone. */
export function publicNames(): string {
  const { checker, exported } = readSurface()
  const sections = exported.map(([name, symbols]) => {
    const names = symbols.map((symbol) => (isValue(symbol, checker) ? symbol.name : `type ${symbol.name}`))
    return [name, ...names.sort().map((line) => `  ${line}`)].join('\n')
  })
  return `${sections.join('\n')}\n`
}

export function isValue(symbol: ts.Symbol, checker: ts.TypeChecker): boolean {
  if (symbol.declarations?.some(isOfType)) return false
  return (findDeclared(symbol, checker).flags & ts.SymbolFlags.Value) !== 0
}

export function findDeclared(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

/** `export type { Name }` of something that is a value too. */
function isOfType(declaration: ts.Declaration): boolean {
  return ts.isExportSpecifier(declaration) && (declaration.isTypeOnly || declaration.parent.parent.isTypeOnly)
}
