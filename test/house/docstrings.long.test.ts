import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { ERRORS } from '@sallyport/core'
import t from 'tap'
import ts from 'typescript'
import { publishedWorkspaces, ROOT } from '../workspaces.ts'
import { ENTRIES, findDeclared, isValue, PUBLIC, readSurface } from './surface.ts'

/* A public name is what customers import: all of PUBLIC. */
const { checker: CHECKER, exported } = readSurface({ strict: true, types: ['node'] })

const readText = (symbol: ts.Symbol) => ts.displayPartsToString(symbol.getDocumentationComment(CHECKER))

function listTags(symbol: ts.Symbol, tag: string): readonly string[] {
  const tags = symbol.getJsDocTags(CHECKER).filter(({ name }) => name === tag)
  return tags.map(({ text }) => ts.displayPartsToString(text))
}

function listLacksOfValue(symbol: ts.Symbol): readonly string[] {
  const text = readText(symbol)
  const codes = Object.keys(ERRORS).filter((code) => text.includes(`\`${code}\``))
  const says = codes.length > 0 || /\bthrows\b/i.test(text) || (symbol.flags & ts.SymbolFlags.Variable) !== 0
  const examples = listTags(symbol, 'example')
  return [
    ...(text === '' ? ['a docstring'] : []),
    ...(examples.some((example) => /^```ts\n(?=[\s\S]*^import )[\s\S]*^```$/m.test(example)) ? [] : ['an @example']),
    ...(says ? [] : ['its errors']),
    ...(listTags(symbol, 'see').some((text) => text.includes('://')) ? [] : ['a link (@see)']),
  ]
}

/** Reports whether a member holds a number, or nothing. */
function isNumber(type: ts.Type): boolean {
  const parts = type.isUnion() ? type.types : [type]
  const isOther = ({ flags }: ts.Type) => (flags & (ts.TypeFlags.NumberLike | ts.TypeFlags.Undefined)) === 0
  return !parts.some(isOther) && parts.some(({ flags }) => flags & ts.TypeFlags.Number)
}

function isOurs({ declarations = [] }: ts.Symbol): boolean {
  return declarations.some((declaration) => !/node_modules/.test(relative(ROOT, declaration.getSourceFile().fileName)))
}

function listLacksOfType(symbol: ts.Symbol): readonly string[] {
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

t.test('every public name says what it is, with an example, its errors, its units and a link', async (t) => {
  const lacking = exported.flatMap(([entry, symbols]) =>
    symbols.flatMap((symbol) => {
      const listLacks = isValue(symbol, CHECKER) ? listLacksOfValue : listLacksOfType
      return listLacks(findDeclared(symbol, CHECKER)).map((what) => `${entry} ${symbol.name} lacks ${what}`)
    }),
  )
  t.ok(exported.flatMap(([, symbols]) => symbols).length > 60)
  t.same(lacking, [])
})

t.test('README imports what is public', async (t) => {
  const imports = readFileSync(join(ROOT, 'README.md'), 'utf8').match(/(?<= from ')(?:@sallyport\/|sallyport\b)[^']*/g)
  const others = imports?.filter((name) => !PUBLIC.includes(name))
  t.same(others, [])
})

t.test('the reference is of what is public', async (t) => {
  const { entryPoints } = JSON.parse(readFileSync(join(ROOT, '.typedoc.json'), 'utf8'))
  const adapters = publishedWorkspaces().flatMap(({ folder }) => (folder.startsWith('adapters/') ? folder : []))
  const stated = entryPoints.flatMap((path: string) =>
    path.startsWith('adapters/*') ? adapters.map((folder) => path.replace('adapters/*', folder)) : path,
  )
  const declared = PUBLIC.map((name) => relative(ROOT, ENTRIES.get(name) ?? '').replace('dist/', ''))
  t.same(stated.toSorted(), declared.map((file) => file.replace(/\.d\.ts$/, '.ts')).toSorted())
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
