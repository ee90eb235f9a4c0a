import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { ROOT } from '../workspaces.ts'

/** Packages whose folders below src are rooms of their own. */
const HOUSES = ['packages/engine', 'packages/sallyport']

const ROWS: Readonly<Record<string, readonly string[]>> = {
  data: [],
  'packages/core': [
    'data',
    '@eslint-community/regexpp',
    'leven',
    'lru-cache',
    're2js',
    'structured-headers',
    'tldts',
    'node:crypto',
  ],
  'packages/ledger': ['canonicalize', 'node:crypto'],
  ...within('packages/engine', {
    accounts: ['node:crypto'],
    api: ['packages/core', 'packages/ledger', '#accounts', 'packages/engine/openapi.json', 'zod', 'node:crypto'],
    files: ['packages/core', 'node:*'],
    datasets: ['packages/core', '#files', 'data', 'iso-3166', 'maxmind', '@photostructure/tz-lookup', 'node:*'],
    net: ['packages/core', 'undici', 'node:*'],
    whois: ['packages/core', 'data', 'lru-cache'],
    stores: [
      'packages/core',
      'packages/ledger',
      '#accounts',
      '#files',
      '@photostructure/sqlite',
      'pg',
      '@redis/client',
      'lru-cache',
      'node:*',
    ],
    log: ['packages/core', '#files', 'sonic-boom', 'node:*'],
    metrics: ['packages/core', 'prom-client'],
    tally: ['packages/core', '#stores', 'node:*'],
    settings: ['packages/core', '#log', 'yaml', 'zod', 'node:*'],
    service: [
      'packages/core',
      '#accounts',
      '#api',
      '#datasets',
      '#files',
      '#log',
      '#metrics',
      '#net',
      '#settings',
      '#stores',
      '#whois',
      'proxy-from-env',
      'zod',
      'node:*',
    ],
    attestation: [
      'packages/core',
      'packages/ledger',
      'data',
      '#api',
      '#datasets',
      '#files',
      '#service',
      '#settings',
      '#stores',
      'yaml',
      'node:*',
    ],
    features: [
      'packages/core',
      'packages/ledger',
      '#api',
      '#attestation',
      '#datasets',
      '#files',
      '#log',
      '#service',
      '#settings',
      '#stores',
      '#tally',
      'lru-cache',
      'zod',
      'node:*',
    ],
    config: ['packages/core', '#datasets', '#features', '#files', '#service', '#settings', 'yaml', 'zod', 'node:*'],
    doctor: [
      'packages/core',
      '#attestation',
      '#config',
      '#datasets',
      '#features',
      '#files',
      '#net',
      '#service',
      '#settings',
      '#stores',
      'node:*',
    ],
    open: [
      'packages/core',
      '#accounts',
      '#api',
      '#attestation',
      '#config',
      '#datasets',
      '#doctor',
      '#features',
      '#metrics',
      '#service',
      '#tally',
      '@opentelemetry/api',
      'node:*',
    ],
    '': [
      '#accounts',
      '#api',
      '#datasets',
      '#features',
      '#log',
      '#metrics',
      '#net',
      '#open',
      '#stores',
      '#tally',
      '#whois',
    ],
  }),
  'adapters/node': ['packages/core', 'packages/engine', 'negotiator', 'node:*'],
  'adapters/fetch': ['packages/core', 'packages/engine', 'adapters/node', 'hono', 'node:*'],
  'adapters/proxy': [
    'packages/core',
    'packages/engine',
    'adapters/node',
    'undici',
    'http-proxy',
    'acme-client',
    'node:*',
  ],
  ...within('packages/sallyport', {
    console: ['packages/core', 'packages/engine', 'node:*'],
    cli: ['packages/core', 'packages/ledger', 'packages/engine', 'adapters/proxy', '#console', 'commander', 'node:*'],
    '': ['packages/core', 'packages/engine'],
  }),
}

/** The adapters of Node's frameworks, which have a rule in place of a row: they translate, and their manifest names the framework. */
export const FRAMEWORKS: readonly string[] = readdirSync(join(ROOT, 'adapters'))
  .map((name) => `adapters/${name}`)
  .filter((room) => !(room in ROWS) && existsSync(join(ROOT, room, 'package.json')))

/** Imports that each room may have: rooms by folder, packages and node: modules by name. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  ...ROWS,
  ...Object.fromEntries(FRAMEWORKS.map((room) => [room, allowedOf(room)])),
}

/** The source lines that each room may have. */
export const BUDGETS: Readonly<Record<string, number>> = {
  data: 647,
  'packages/core': 19_855,
  'packages/ledger': 3_529,
  'packages/engine/accounts': 642,
  'packages/engine/api': 2_595,
  'packages/engine/files': 357,
  'packages/engine/datasets': 8_075,
  'packages/engine/net': 742,
  'packages/engine/whois': 1_178,
  'packages/engine/stores': 4_743,
  'packages/engine/log': 869,
  'packages/engine/metrics': 784,
  'packages/engine/tally': 1_388,
  'packages/engine/settings': 1_251,
  'packages/engine/service': 1_714,
  'packages/engine/attestation': 672,
  'packages/engine/features': 2_855,
  'packages/engine/config': 1_765,
  'packages/engine/doctor': 891,
  'packages/engine/open': 1_348,
  'packages/engine': 24,
  'adapters/node': 5_043,
  'adapters/fetch': 672,
  'adapters/proxy': 8_626,
  'packages/sallyport/console': 3_395,
  'packages/sallyport/cli': 7_543,
  'packages/sallyport': 50,
  'adapters/express': 112,
  'adapters/fastify': 208,
  'adapters/koa': 121,
  'packages/sallyport/page': 3_752,
}

/** Imports of a framework's adapter: those of Node's, its framework, and plugins named after that. */
function allowedOf(room: string): readonly string[] {
  const { dependencies = {}, peerDependencies = {} } = manifestOf(room)
  const frameworks = Object.keys(peerDependencies)
  const isPlugin = (name: string) => frameworks.some((framework) => name.startsWith(`${framework}-`))
  const plugins = Object.keys(dependencies).filter(isPlugin)
  return ['packages/core', 'packages/engine', 'adapters/node', ...frameworks, ...plugins]
}

/** Permitted imports of the console's page. It is bundled: only its build needs its libraries. */
export const PAGE = {
  folder: 'packages/sallyport/page',
  allowed: [
    'preact',
    '@preact/signals',
    'uplot',
    '@lezer/highlight',
    ...['view', 'state', 'lint', 'language', 'lang-yaml', 'commands', 'autocomplete'].map((it) => `@codemirror/${it}`),
  ],
  /** Types of the routes' answers: of this file, types alone. */
  types: 'packages/sallyport/src/console/routes/index.ts',
} as const

/** The rooms of one package, with `#name` for the one beside. */
function within(house: string, rooms: Readonly<Record<string, readonly string[]>>) {
  const named = (name: string) => (name.startsWith('#') ? `${house}/${name.slice(1)}` : name)
  return Object.fromEntries(
    Object.entries(rooms).map(([name, allowed]) => [name === '' ? house : `${house}/${name}`, allowed.map(named)]),
  )
}

export interface Source {
  readonly path: string
  readonly text: string
  readonly imports: readonly string[]
}

/** The package that holds a room: `packages/engine` of `packages/engine/stores`. */
export const packageOf = (room: string): string => room.split('/').slice(0, 2).join('/')

/** Folder of a room's sources. */
export function folderOf(room: string): string {
  return room === 'data' ? room : join(packageOf(room), 'src', room.slice(packageOf(room).length))
}

export function sourcesOf(room: string): readonly Source[] {
  return sourcesIn(folderOf(room), room !== 'data' && !HOUSES.includes(room))
}

/** The sources in a folder, without what is built there. */
export function sourcesIn(folder: string, recursive = true): readonly Source[] {
  const names = readdirSync(join(ROOT, folder), { recursive, encoding: 'utf8' })
  return names
    .filter((name) => /\.tsx?$/.test(name) && !name.startsWith('dist/'))
    .map((name) => {
      const path = join(folder, name)
      const text = readFileSync(join(ROOT, path), 'utf8')
      return { path, text, imports: importsOf(path, text) }
    })
}

/** A file's imports, of types too and when it runs, by the compiler's own reading. */
function importsOf(path: string, text: string): readonly string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    const specifier = specifierOf(node)
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) found.push(specifier.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest))
  return found
}

function specifierOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal
  const isImportCall = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
  return isImportCall ? node.arguments[0] : undefined
}

export function manifestOf(folder: string): Readonly<Record<string, Readonly<Record<string, string>>>> {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
}

const FOLDERS = new Map(
  [...new Set(Object.keys(ROOMS).map(packageOf))].map((it) => [String(manifestOf(it)['name']), it]),
)

/** As a room imports it: `@sallyport/core/host` → `packages/core`, `#stores/testing` → `packages/engine/stores`, `@a/b/c` → `@a/b`. */
export function importedName(specifier: string, room = ''): string {
  if (specifier.startsWith('node:')) return specifier
  const [scope = '', name = ''] = specifier.split('/')
  if (scope.startsWith('#')) return `${packageOf(room)}/${scope.slice(1)}`
  const found = scope.startsWith('@') ? `${scope}/${name}` : scope
  return FOLDERS.get(found) ?? found
}

/** The rooms that each room imports. */
function importsOfRooms(): ReadonlyMap<string, readonly string[]> {
  const others = (room: string) => {
    const names = sourcesOf(room).flatMap(({ imports }) => imports.map((specifier) => importedName(specifier, room)))
    return [...new Set(names)].filter((name) => name in ROOMS && name !== room).sort()
  }
  return new Map(Object.keys(ROOMS).map((room) => [room, others(room)]))
}

/** The nodes by floor, the lowest first: each stands one above the highest that it imports. */
export function floorsOf(imports: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const floorOf = (node: string): number => Math.max(0, ...(imports.get(node) ?? []).map((below) => floorOf(below) + 1))
  const floors: string[][] = []
  for (const node of imports.keys()) {
    const floor = floorOf(node)
    while (floors.length <= floor) floors.push([])
    floors[floor]?.push(node)
  }
  return floors
}

/** The house as a text, read off the imports: the highest floor first, each room with the rooms it imports. */
export function sketchOf(): string {
  const imports = importsOfRooms()
  const width = Math.max(...Object.keys(ROOMS).map((room) => room.length))
  const lines = floorsOf(imports).flatMap((rooms, floor) => {
    const row = (room: string) =>
      ` ${floor}  ${room.padEnd(width)}  ${(imports.get(room) ?? []).map((name) => name.slice(name.lastIndexOf('/') + 1)).join(' ')}`
    return [rooms.map((room) => row(room).trimEnd()).join('\n')]
  })
  return lines.toReversed().join('\n\n')
}
