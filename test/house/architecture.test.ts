import { dirname, join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import {
  BUDGETS,
  FRAMEWORKS,
  findFolder,
  findPackage,
  importedName,
  PAGE,
  ROOMS,
  readManifest,
  readSources,
  type Source,
  sourcesIn,
} from './rooms.ts'

/* Npm makes any package importable from anywhere: only this test keeps core free of I/O and the rooms of one floor unaware of each other. */
/** Law 1: these are handed their clock, their randomness and their network; `fetch` of a port is not the global one. */
const PURE = ['packages/core', 'packages/ledger', 'packages/engine/accounts', 'packages/engine/whois']
const IMPURE =
  /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bprocess\.|(?<!\.)\bfetch\(|\bset(Timeout|Interval|Immediate)\(|\brandom(Bytes|UUID)\b/

/** The entry for programs hands the clock and the randomness to what it creates. */
const HANDS_IN = 'packages/core/src/signing.ts'

const MAX_FILE_LINES = 400
/** 80 is the habit; functions that compose a service may take 110. */
const MAX_FUNCTION_LINES = 110
const MAX_ADAPTER_LINES = 120
/** The budget of a framework's adapter that has no row of its own yet. */
const NEW_ADAPTER_LINES = 200

type Graph = ReadonlyMap<string, readonly string[]>

function importsWithin(sources: readonly Source[]): Graph {
  const resolve = (path: string, name: string) => (name.startsWith('.') ? join(path, '..', name) : [])
  return new Map(sources.map(({ path, imports }) => [path, imports.flatMap((name) => resolve(path, name))]))
}

/** The same imports between folders; a file at the top of them is a folder of its own. */
function groupImports(top: string, files: Graph): Graph {
  const findGroup = (path: string) => (dirname(path) === top ? path : dirname(path))
  const folders = new Map<string, readonly string[]>()
  for (const [path, imports] of files) {
    const folder = findGroup(path)
    const others = imports.map(findGroup).filter((other) => other !== folder)
    folders.set(folder, [...(folders.get(folder) ?? []), ...others])
  }
  return folders
}

function findCircles(graph: Graph): readonly string[] {
  return [...graph.keys()].filter((from) => {
    const reached = new Set(graph.get(from))
    for (const next of reached) for (const other of graph.get(next) ?? []) reached.add(other)
    return reached.has(from)
  })
}

/** Lists the functions with too many lines. The lines of an inner function count for the outer function too. */
function findLongFunctions({ path, text }: Source): readonly string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const findLine = (position: number) => file.getLineAndCharacterOfPosition(position).line
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && findLine(node.end) - findLine(node.getStart()) >= MAX_FUNCTION_LINES) {
      found.push((node.name ?? node.parent).getText().split(/\W/)[0] ?? '')
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

t.test('circles are found', async (t) => {
  const source = (path: string, ...imports: string[]): Source => ({ path, text: '', imports })
  const files = importsWithin([
    source('r/src/a/x.ts', '../b/z.ts', 'tap'),
    source('r/src/b/y.ts', '../a/w.ts'),
    source('r/src/ports.ts', './ports.ts'),
  ])
  t.same(findCircles(files), ['r/src/ports.ts'])
  t.same(findCircles(groupImports('r/src', files)), ['r/src/a', 'r/src/b'])
})

t.test('long functions are found', async (t) => {
  const lines = (count: number) => '\n'.repeat(count - 2)
  const text = `function a() {\n${lines(111)}}\nconst b = () => {\n${lines(110)}}\nconst c = { d: () => {\n${lines(111)}} }\n`
  t.same(findLongFunctions({ path: 'x.ts', text, imports: [] }), ['a', 'd'])
})

t.test('the offline verifier needs nothing but itself and node:crypto', async (t) => {
  const verifier = readSources('packages/ledger').filter(({ path }) => path.startsWith('packages/ledger/src/verify/'))
  t.ok(verifier.length > 5)
  const foreign = verifier.flatMap(({ imports }) => imports.filter((name) => !/^(?:node:crypto|\.\/[^/]+)$/.test(name)))
  t.same(foreign, [])
})

interface Checked {
  readonly room: string
  readonly top: string
  readonly sources: readonly Source[]
  readonly allowed: readonly string[]
  /** The room may import types of this file outside of it. */
  readonly types?: string | undefined
  readonly declared: Readonly<Record<string, string>>
}

const { dependencies, devDependencies } = readManifest(findPackage(PAGE.folder))
const PAGE_PARTS = { room: PAGE.folder, top: PAGE.folder, declared: { ...dependencies, ...devDependencies } }

const CHECKED: readonly Checked[] = [
  ...Object.entries(ROOMS).map(([room, allowed]) => {
    const { dependencies, optionalDependencies, peerDependencies } = readManifest(findPackage(room))
    const declared = { ...dependencies, ...optionalDependencies, ...peerDependencies }
    return { room, top: findFolder(room), sources: readSources(room), allowed, declared }
  }),
  { ...PAGE, ...PAGE_PARTS, sources: sourcesIn(PAGE.folder) },
]

const pathsWhere = (sources: readonly Source[], isFound: (source: Source) => boolean) =>
  sources.filter(isFound).map(({ path }) => path)

for (const { room, top, sources, allowed, types, declared } of CHECKED) {
  t.test(`${room} imports only what stands below it`, async (t) => {
    t.ok(sources.length > 0, 'has sources')
    const outside = sources.flatMap(({ path, imports }) =>
      imports.filter((specifier) => !specifier.startsWith('.')).map((specifier) => ({ path, specifier })),
    )
    const forbidden = outside.filter(({ specifier }) => {
      const name = importedName(specifier, room)
      return !allowed.includes(name) && !(name.startsWith('node:') && allowed.includes('node:*'))
    })
    t.same(forbidden, [])
    const packages = outside.flatMap(({ specifier }) => /^(?!node:|#)(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? [])
    const undeclared = packages.filter((name) => !(name in declared))
    t.same(undeclared, [], 'every import is declared')
    const isTypeImport = (text: string, specifier: string) =>
      text.split('\n').every((line) => !line.includes(`'${specifier}'`) || line.startsWith('import type '))
    const leaves = pathsWhere(sources, ({ path, text, imports }) =>
      imports.some((specifier) => {
        const target = join(path, '..', specifier)
        if (!specifier.startsWith('.') || target.startsWith(top) || allowed.includes(target)) return false
        return target !== types || !isTypeImport(text, specifier)
      }),
    )
    t.same(leaves, [], 'no relative import leaves the room')
  })

  t.test(`${room} has no circle of imports, of types either, between files or between folders`, async (t) => {
    const files = importsWithin(sources)
    t.same(findCircles(files), [])
    t.same(findCircles(groupImports(top, files)), [])
  })

  t.test(`${room} keeps its files to one idea`, async (t) => {
    const lines = ({ text }: Source) => text.split('\n').length
    const isAdapter = FRAMEWORKS.includes(room)
    const limit = isAdapter ? MAX_ADAPTER_LINES : MAX_FILE_LINES
    const long = pathsWhere(sources, (source) => lines(source) > limit)
    t.same(long, [], 'no file is too long')
    const whole = sources.reduce((sum, source) => sum + lines(source) - 1, 0)
    const budget = BUDGETS[room] ?? (isAdapter ? NEW_ADAPTER_LINES : 0)
    t.ok(whole <= budget, `${whole} lines of at most ${budget}`)
    t.same(sources.flatMap(findLongFunctions), [], `no function has more than ${MAX_FUNCTION_LINES} lines`)
    // State of a module is shared by every instance in the process.
    const stateful = /^(export )?let |^(export )?const \w+ = new (Map|Set|WeakMap|LRUCache)\(\)/m
    const holders = pathsWhere(sources, ({ text }) => stateful.test(text))
    t.same(holders, [], 'no module state')
  })

  if (PURE.includes(room)) {
    t.test(`${room} has no clock, no randomness and no I/O of its own`, async (t) => {
      const withoutComments = (text: string) => text.replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, '')
      const isImpure = ({ path, text }: Source) => path !== HANDS_IN && IMPURE.test(withoutComments(text))
      t.same(pathsWhere(sources, isImpure), [])
    })
  }
}

t.test('the protection of accounts keeps to its budget, in core and in the engine together', async (t) => {
  const folders = ['packages/core/src/logins', 'packages/engine/src/features/logins']
  const sources = folders.flatMap((folder) => sourcesIn(folder))
  const lines = sources.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
  t.ok(sources.length > 20 && lines <= 1_600, `${lines} lines`)
})
