import { join } from 'node:path'
import ts from 'typescript'
import { publishedWorkspaces, ROOT } from '../workspaces.ts'

/** The declarations of what customers import, by the name that it is imported by. */
export function entries(): ReadonlyMap<string, string> {
  const found = publishedWorkspaces().flatMap(({ folder, manifest }) =>
    Object.entries(manifest.exports ?? {}).flatMap(([path, target]) => {
      const name = join(manifest.name, path)
      const isPublic = folder.startsWith('adapters/') ? path !== './internal' : PACKAGES.includes(name)
      return typeof target === 'string' || !isPublic ? [] : [[name, join(ROOT, folder, target['types'] ?? '')] as const]
    }),
  )
  return new Map(found)
}

/** Lists public entries of other packages than the adapters. */
const PACKAGES = ['sallyport', 'sallyport/better-auth', '@sallyport/ledger/verify', '@sallyport/core/signing']

export const PUBLIC: readonly string[] = [...entries().keys()]

/** Lists every public name, a line each below its package: `NAME` for a value, `type Name` for what is a type alone. */
export function publicNames(): string {
  const files = entries()
  const program = ts.createProgram([...files.values()], {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    noLib: true,
    types: [],
  })
  const checker = program.getTypeChecker()
  const makeNames = (file: string): readonly string[] => {
    const source = program.getSourceFile(file)
    const module = source && checker.getSymbolAtLocation(source)
    if (module === undefined) throw new Error(`${file} is not a built module`)
    return checker
      .getExportsOfModule(module)
      .map((symbol) => (isValue(symbol, checker) ? symbol.name : `type ${symbol.name}`))
  }
  const sections = [...files].map(([name, file]) => [
    name,
    ...makeNames(file)
      .toSorted()
      .map((line) => `  ${line}`),
  ])
  return `${sections.flat().join('\n')}\n`
}

/** Reports whether an exported name is a value, and not a type alone. */
export function isValue(symbol: ts.Symbol, checker: ts.TypeChecker): boolean {
  if (symbol.declarations?.some(isOfType)) return false
  const { flags } = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  return (flags & ts.SymbolFlags.Value) !== 0
}

/** `export type { Name }` of something that is a value too. */
function isOfType(declaration: ts.Declaration): boolean {
  return ts.isExportSpecifier(declaration) && (declaration.isTypeOnly || declaration.parent.parent.isTypeOnly)
}
