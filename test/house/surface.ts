import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { ROOT } from '../workspaces.ts'

interface Manifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, string | { readonly types: string }>>
}

/** The declarations of every entry, by the name that it is imported by; `/testing` is for our own tests. */
export function entries(): ReadonlyMap<string, string> {
  const rooms = ['packages', 'adapters'].flatMap((floor) =>
    readdirSync(join(ROOT, floor)).map((room) => join(ROOT, floor, room)),
  )
  return new Map(
    rooms.flatMap((room) => {
      const { name, exports = {} }: Manifest = JSON.parse(readFileSync(join(room, 'package.json'), 'utf8'))
      return Object.entries(exports).flatMap(([path, target]) =>
        typeof target === 'string' || path === './testing'
          ? []
          : [[join(name, path), join(room, target.types)] as const],
      )
    }),
  )
}

/** What customers import. Every other entry is internal: its README says that names may change in any release. */
export const PUBLIC: readonly string[] = [
  'sallyport',
  '@sallyport/ledger/verify',
  ...[...entries()].flatMap(([name, file]) =>
    file.startsWith(join(ROOT, 'adapters')) && !name.endsWith('/internal') ? name : [],
  ),
]

/** Every public name, a line each below its package: `NAME` for a value, `type Name` for what is a type alone. */
export function publicNames(): string {
  const files = entries()
  const program = ts.createProgram([...files.values()], {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    noLib: true,
    types: [],
  })
  const checker = program.getTypeChecker()
  const namesOf = (file: string): readonly string[] => {
    const source = program.getSourceFile(file)
    const module = source && checker.getSymbolAtLocation(source)
    if (module === undefined) throw new Error(`${file} is not a built module`)
    return checker
      .getExportsOfModule(module)
      .map((symbol) => (isValue(symbol, checker) ? symbol.name : `type ${symbol.name}`))
  }
  const sections = [...files].map(([name, file]) => [
    name,
    ...namesOf(file)
      .toSorted()
      .map((line) => `  ${line}`),
  ])
  return `${sections.flat().join('\n')}\n`
}

/** Whether an exported name is a value, and not a type alone. */
export function isValue(symbol: ts.Symbol, checker: ts.TypeChecker): boolean {
  if (symbol.declarations?.some(isOfType)) return false
  const { flags } = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  return (flags & ts.SymbolFlags.Value) !== 0
}

/** `export type { Name }` of something that is a value too. */
function isOfType(declaration: ts.Declaration): boolean {
  return ts.isExportSpecifier(declaration) && (declaration.isTypeOnly || declaration.parent.parent.isTypeOnly)
}
