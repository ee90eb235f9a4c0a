import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { ERRORS } from '@sallyport/core'
import t from 'tap'
import ts from 'typescript'
import { readFences } from '../documents/fences.ts'
import { publishedWorkspaces, ROOT } from '../workspaces.ts'
import { entries, isValue, PUBLIC } from './surface.ts'

/* A public name is what customers import: all of PUBLIC, and what README imports of other packages. */
const SHOWN = [...readmeImports()].filter(([name]) => !PUBLIC.includes(name))

const FILES = entries()
const PROGRAM = ts.createProgram([...FILES.values()], {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  strict: true,
  types: ['node'],
})
const CHECKER = PROGRAM.getTypeChecker()

function* readmeImports(): Generator<readonly [string, readonly string[]]> {
  for (const { language, text } of readFences(['README.md'])) {
    if (language !== 'ts') continue
    for (const [, names = '', from = ''] of text.matchAll(/^import \{([^}]*)\} from '([^']+)'/gm)) {
      if (/^(@sallyport\/|sallyport$)/.test(from))
        yield [from, names.split(',').map((name) => name.trim().replace(/^type /, ''))]
    }
  }
}

interface PublicName {
  /** Reads like `@sallyport/node listener` */
  readonly name: string
  readonly symbol: ts.Symbol
  readonly isValue: boolean
}

/** The names that an entry exports, each as what it was declared. */
function listExports(entry: string): readonly PublicName[] {
  const source = PROGRAM.getSourceFile(FILES.get(entry) ?? '')
  const module = source && CHECKER.getSymbolAtLocation(source)
  if (module === undefined) throw new Error(`${entry} is not built`)
  return CHECKER.getExportsOfModule(module).map((symbol) => ({
    name: `${entry} ${symbol.name}`,
    symbol: symbol.flags & ts.SymbolFlags.Alias ? CHECKER.getAliasedSymbol(symbol) : symbol,
    isValue: isValue(symbol, CHECKER),
  }))
}

const readText = (symbol: ts.Symbol) => ts.displayPartsToString(symbol.getDocumentationComment(CHECKER))

function listTags(symbol: ts.Symbol, tag: string): readonly string[] {
  const tags = symbol.getJsDocTags(CHECKER).filter(({ name }) => name === tag)
  return tags.map(({ text }) => ts.displayPartsToString(text))
}

/** Faults in the docstring of a value. */
function lacksOfValue(symbol: ts.Symbol): readonly string[] {
  const text = readText(symbol)
  const codes = Object.keys(ERRORS).filter((code) => text.includes(`\`${code}\``))
  const says = codes.length > 0 || /\bthrows\b/i.test(text) || (symbol.flags & ts.SymbolFlags.Variable) !== 0
  const examples = listTags(symbol, 'example')
  return [
    ...(text === '' ? ['a docstring'] : []),
    ...(examples.some((example) => /^```ts\n(?=[\s\S]*^import )[\s\S]*^```$/m.test(example)) ? [] : ['an @example']),
    ...(says ? [] : ['its errors']),
    ...(listTags(symbol, 'see').some(isLink) ? [] : ['a link (@see)']),
  ]
}

/** Reports whether a link to a file or folder of the repository leads somewhere. */
function isLink(text: string): boolean {
  const [, path] = /^https:\/\/github\.com\/sallyport\/sallyport\/(?:blob|tree)\/main\/([^#\s]+)/.exec(text) ?? []
  return path === undefined ? /:\/\/\S+/.test(text) : existsSync(join(ROOT, path))
}

const NUMBER = ts.TypeFlags.NumberLike

/** Reports whether a member holds a number, or nothing. */
function isNumber(type: ts.Type): boolean {
  const parts = type.isUnion() ? type.types : [type]
  const others = parts.filter(({ flags }) => (flags & (NUMBER | ts.TypeFlags.Undefined)) === 0)
  return others.length === 0 && parts.some(({ flags }) => flags & ts.TypeFlags.Number)
}

function isOurs({ declarations = [] }: ts.Symbol): boolean {
  return declarations.some((declaration) => !/node_modules/.test(relative(ROOT, declaration.getSourceFile().fileName)))
}

/** Lists faults in the docstrings of a type and of its members that are numbers or functions. */
function lacksOfType(symbol: ts.Symbol): readonly string[] {
  const missing = readText(symbol) === '' ? ['a docstring'] : []
  const members = CHECKER.getPropertiesOfType(CHECKER.getDeclaredTypeOfSymbol(symbol)).filter((member) => {
    if (!isOurs(member) || (symbol.flags & ts.SymbolFlags.Interface) === 0) return false
    const type = CHECKER.getTypeOfSymbol(member)
    const called = CHECKER.getNonNullableType(type).getCallSignatures().length > 0
    return (member.flags & (ts.SymbolFlags.Property | ts.SymbolFlags.Method)) !== 0 && (isNumber(type) || called)
  })
  const silent = members.filter((member) => readText(member) === '')
  return [...missing, ...silent.map(({ name }) => `a docstring of its member ${name}`)]
}

function findLacks({ name, symbol, isValue }: PublicName): readonly string[] {
  return (isValue ? lacksOfValue(symbol) : lacksOfType(symbol)).map((what) => `${name} lacks ${what}`)
}

t.test('every public name says what it is, with an example, its errors, its units and a link', async (t) => {
  const all = PUBLIC.flatMap(listExports)
  const shown = SHOWN.flatMap(([entry, names]) => {
    return listExports(entry).filter(({ name }) => names.includes(name.split(' ')[1] ?? ''))
  })
  t.ok(all.length > 60)
  t.same([...all, ...shown].flatMap(findLacks), [])
})

const EACH_ADAPTER = 'adapters/*'

t.test('the reference is of what is public', async (t) => {
  const { entryPoints } = JSON.parse(readFileSync(join(ROOT, '.typedoc.json'), 'utf8'))
  const adapters = publishedWorkspaces().flatMap(({ folder }) => (folder.startsWith('adapters/') ? folder : []))
  const sources = PUBLIC.map((name) =>
    FILES.get(name)
      ?.slice(ROOT.length + 1)
      .replace('dist/', ''),
  )
  const stated = entryPoints.flatMap((path: string) =>
    path.startsWith(EACH_ADAPTER) ? adapters.map((folder) => folder + path.slice(EACH_ADAPTER.length)) : path,
  )
  t.same(stated.toSorted(), sources.map((file) => file?.replace(/\.d\.ts$/, '.ts')).toSorted())
})

t.test('the README of a package says how to install and use it, or that it is internal', async (t) => {
  const missing = publishedWorkspaces().flatMap(({ folder, manifest: { name } }) => {
    const file = join(ROOT, folder, 'README.md')
    if (!existsSync(file)) return []
    const isPublic = PUBLIC.some((entry) => entry === name || entry.startsWith(`${name}/`))
    const parts = isPublic
      ? ['## Install\n', '## Use\n', '## Options\n']
      : ['All names are internal and may change in any release.']
    const text = readFileSync(file, 'utf8')
    return parts.filter((part) => !text.includes(part)).map((part) => `${folder}: ${part.trim()}`)
  })
  t.same(missing, [])
})
