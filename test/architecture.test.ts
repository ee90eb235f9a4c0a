import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import t from 'tap'
import ts from 'typescript'

/*
 * The rooms hold only while imports go down. npm hoisting makes any package importable from anywhere, so nothing but
 * this test keeps core free of I/O and the rooms of one floor unaware of each other. It reads import specifiers with
 * the compiler's own scanner and counts them: a tool that silently reads nothing would pass for ever.
 */
const ROOT = join(import.meta.dirname, '../..')

/** What each room may import: rooms by folder, packages and node: modules by name. `node:*` is any of them. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  data: [],
  'packages/core': ['data', 'ip-cidr', 'leven', 'lru-cache', 'p-limit', 'structured-headers', 'tldts', 'node:crypto'],
  'packages/accounts': ['node:crypto'],
  'packages/ledger': ['canonicalize', 'node:crypto'],
  'packages/api': ['packages/core', 'packages/accounts', 'packages/ledger', 'zod', 'zod-openapi', 'node:crypto'],
  'packages/datasets': [
    'packages/core',
    'data',
    'iso-3166',
    'maxmind',
    '@photostructure/tz-lookup',
    'p-limit',
    'node:*',
  ],
  'packages/net': ['packages/core', 'undici', 'node:*'],
  'packages/whois': ['packages/core', 'data', 'lru-cache'],
  'packages/stores': [
    ...['packages/core', 'packages/accounts', 'packages/ledger'],
    ...['@photostructure/sqlite', 'pg', '@redis/client', 'lru-cache', 'rate-limiter-flexible', 'node:*'],
  ],
  'packages/log': ['packages/core', 'pino', 'node:*'],
  'packages/metrics': ['packages/core', 'prom-client'],
  'packages/open': [
    ...['packages/core', 'packages/accounts', 'packages/api', 'packages/datasets', 'packages/net', 'packages/stores'],
    ...['packages/ledger', 'packages/log', 'packages/metrics', 'packages/whois', 'data', 'yaml', 'zod', 'node:*'],
    ...['@opentelemetry/api', 'proxy-from-env'],
  ],
  'packages/console': ['packages/core', 'packages/accounts', 'packages/open', 'node:*'],
  'packages/cli': [
    ...['packages/core', 'packages/accounts', 'packages/ledger', 'packages/log', 'packages/metrics', 'packages/open'],
    ...['adapters/proxy', 'packages/console'],
    ...['commander', 'cli-progress', 'cli-table3', 'pino-pretty', 'node:*'],
  ],
  'packages/sallyport': ['packages/core', 'packages/open', 'packages/cli'],
  'adapters/node': ['packages/core', 'packages/api', 'negotiator', 'node:*'],
  'adapters/express': ['packages/core', 'packages/api', 'adapters/node', 'express'],
  'adapters/koa': ['packages/core', 'packages/api', 'adapters/node', 'koa'],
  'adapters/fastify': ['packages/core', 'packages/api', 'adapters/node', 'fastify', 'fastify-plugin'],
  'adapters/fetch': ['packages/core', 'packages/api', 'adapters/node', 'hono', 'node:*'],
  'adapters/proxy': [
    ...['packages/core', 'packages/api', 'packages/metrics', 'packages/open', 'adapters/node'],
    ...['undici', 'http-proxy', 'acme-client', 'node:*'],
  ],
}

/** Law 1: these are handed their clock, their randomness and their network; `fetch` of a port is not the global one. */
const PURE = ['packages/core', 'packages/accounts', 'packages/ledger', 'packages/whois']
const IMPURE =
  /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bprocess\.|(?<!\.)\bfetch\(|\bset(Timeout|Interval|Immediate)\(|\brandom(Bytes|UUID)\b/

const MAX_FILE_LINES = 400
const MAX_FUNCTION_LINES = 80
const MAX_ADAPTER_LINES = 120
const SMALL_ADAPTERS = ['adapters/express', 'adapters/koa', 'adapters/fastify']

interface Source {
  readonly path: string
  readonly text: string
  readonly imports: readonly string[]
}

function sourcesOf(room: string): readonly Source[] {
  const folder = join(ROOT, room, room === 'data' ? '.' : 'src')
  const names = readdirSync(folder, { recursive: room !== 'data', encoding: 'utf8' })
  return names
    .filter((name) => name.endsWith('.ts'))
    .map((name) => {
      const path = join(folder, name)
      const text = readFileSync(path, 'utf8')
      const imports = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName)
      return { path: relative(ROOT, path), text, imports }
    })
}

function withoutComments(text: string): string {
  return text.replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, '')
}

function manifestOf(room: string): Readonly<Record<string, Readonly<Record<string, string>>>> {
  return JSON.parse(readFileSync(join(ROOT, room, 'package.json'), 'utf8'))
}

const FOLDERS = new Map(Object.keys(ROOMS).map((room) => [String(manifestOf(room)['name']), room]))

/** `@sallyport/core` → `packages/core`, `zod/v4` → `zod`, `@a/b/c` → `@a/b`. */
function importedName(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
  return FOLDERS.get(name) ?? name
}

type Graph = ReadonlyMap<string, readonly string[]>

function importsWithin(sources: readonly Source[]): Graph {
  return new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.filter((specifier) => specifier.startsWith('.')).map((specifier) => join(path, '..', specifier)),
    ]),
  )
}

/** The same imports between folders; a file at the top of a room is a folder of its own. */
function importsOfFolders(room: string, files: Graph): Graph {
  const folderOf = (path: string) => (dirname(path) === join(room, 'src') ? path : dirname(path))
  const folders = new Map<string, readonly string[]>()
  for (const [path, imports] of files) {
    const folder = folderOf(path)
    const others = imports.map(folderOf).filter((other) => other !== folder)
    folders.set(folder, [...(folders.get(folder) ?? []), ...others])
  }
  return folders
}

/** The nodes that reach themselves, over any number of others. */
function circlesOf(graph: Graph): readonly string[] {
  const reached = (from: string): ReadonlySet<string> => {
    const seen = new Set<string>()
    const rest = [...(graph.get(from) ?? [])]
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
      if (seen.has(next)) continue
      seen.add(next)
      rest.push(...(graph.get(next) ?? []))
    }
    return seen
  }
  return [...graph.keys()].filter((node) => reached(node).has(node))
}

/** The names of functions of too many lines; a function within another counts to that one too. */
function longFunctionsOf({ path, text }: Source): readonly string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && lineOf(node.end) - lineOf(node.getStart()) >= MAX_FUNCTION_LINES) {
      found.push((node.name ?? node.parent).getText().split(/\W/)[0] ?? '')
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

t.test('circles are found', (t) => {
  const source = (path: string, ...imports: string[]): Source => ({ path, text: '', imports })
  const sources = [
    source('r/src/a/x.ts', './y.ts'),
    source('r/src/a/y.ts', '../b/z.ts'),
    source('r/src/b/z.ts', '../a/x.ts', 'tap'),
  ]
  t.same(circlesOf(importsWithin(sources)), ['r/src/a/x.ts', 'r/src/a/y.ts', 'r/src/b/z.ts'])
  t.same(circlesOf(importsWithin(sources.slice(0, 2))), [])
  const folders = [
    source('r/src/a/x.ts', '../b/z.ts'),
    source('r/src/b/y.ts', '../a/w.ts'),
    source('r/src/ports.ts', './c/v.ts'),
    source('r/src/c/u.ts', '../ports.ts'),
  ]
  t.same(circlesOf(importsWithin(folders)), [])
  t.same(circlesOf(importsOfFolders('r', importsWithin(folders))), ['r/src/a', 'r/src/b', 'r/src/ports.ts', 'r/src/c'])
  t.end()
})

t.test('long functions are found', (t) => {
  const lines = (count: number) => '\n'.repeat(count - 2)
  const text = `function a() {\n${lines(81)}}\nconst b = () => {\n${lines(80)}}\nconst c = { d: () => {\n${lines(81)}} }\n`
  t.same(longFunctionsOf({ path: 'x.ts', text, imports: [] }), ['a', 'd'])
  t.end()
})

t.test('the offline verifier needs nothing but itself and node:crypto', (t) => {
  const verifier = sourcesOf('packages/ledger').filter(({ path }) => path.startsWith('packages/ledger/src/verify/'))
  t.ok(verifier.length > 5)
  const outside = verifier.flatMap(({ path, imports }) =>
    imports
      .filter((specifier) => specifier !== 'node:crypto' && !/^\.\/[^/]+$/.test(specifier))
      .map((name) => [path, name]),
  )
  t.same(outside, [])
  t.end()
})

for (const [room, allowed] of Object.entries(ROOMS)) {
  const sources = sourcesOf(room)

  t.test(`${room} imports only what stands below it`, (t) => {
    t.ok(sources.length > 0, 'has sources')
    const outside = sources.flatMap(({ path, imports }) =>
      imports.filter((specifier) => !specifier.startsWith('.')).map((specifier) => ({ path, specifier })),
    )
    const forbidden = outside.filter(({ specifier }) => {
      const name = importedName(specifier)
      return !allowed.includes(name) && !(name.startsWith('node:') && allowed.includes('node:*'))
    })
    t.same(forbidden, [])
    const { dependencies = {}, peerDependencies = {} } = manifestOf(room)
    const names = new Set(outside.map(({ specifier }) => specifier).filter((name) => !name.startsWith('node:')))
    const undeclared = [...names].filter((specifier) => {
      const parts = specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1)
      return !(parts.join('/') in { ...dependencies, ...peerDependencies })
    })
    t.same(undeclared, [], 'every import is declared')
    const relativeOut = sources.filter(({ path, imports }) =>
      imports.some((specifier) => specifier.startsWith('.') && !join(path, '..', specifier).startsWith(room)),
    )
    t.same(
      relativeOut.map(({ path }) => path),
      [],
      'no relative import leaves the room',
    )
    t.end()
  })

  t.test(`${room} has no circle of imports, of types either, between files or between folders`, (t) => {
    const files = importsWithin(sources)
    t.same(circlesOf(files), [])
    t.same(circlesOf(importsOfFolders(room, files)), [])
    t.end()
  })

  t.test(`${room} keeps its files to one idea`, (t) => {
    const lines = ({ text }: Source) => text.split('\n').length
    const limit = SMALL_ADAPTERS.includes(room) ? MAX_ADAPTER_LINES : MAX_FILE_LINES
    t.same(
      sources.filter((source) => lines(source) > limit).map(({ path }) => path),
      [],
    )
    t.same(
      sources.filter(({ text }) => /^export default\b/m.test(text)).map(({ path }) => path),
      [],
      'no default export',
    )
    t.same(sources.flatMap(longFunctionsOf), [], `no function has more than ${MAX_FUNCTION_LINES} lines`)
    // State of a module is shared by every instance in the process (law 8).
    const stateful = /^(export )?let |^(export )?const \w+ = new (Map|Set|WeakMap|LRUCache)\(\)/m
    t.same(
      sources.filter(({ text }) => stateful.test(text)).map(({ path }) => path),
      [],
      'no module state',
    )
    t.end()
  })

  if (PURE.includes(room)) {
    t.test(`${room} has no clock, no randomness and no I/O of its own`, (t) => {
      t.same(
        sources.filter(({ text }) => IMPURE.test(withoutComments(text))).map(({ path }) => path),
        [],
      )
      t.end()
    })
  }
}
