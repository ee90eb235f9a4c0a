import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { ROOT } from '../workspaces.ts'

const ROWS: Readonly<Record<string, readonly string[]>> = {
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
    ...['@photostructure/sqlite', 'pg', '@redis/client', 'lru-cache', 'node:*'],
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
  'adapters/fetch': ['packages/core', 'packages/api', 'adapters/node', 'hono', 'node:*'],
  'adapters/proxy': [
    ...['packages/core', 'packages/api', 'packages/metrics', 'packages/open', 'adapters/node'],
    ...['undici', 'http-proxy', 'acme-client', 'node:*'],
  ],
}

/** The adapters of Node's frameworks, which have a rule in place of a row: they translate, and their manifest names the framework. */
export const FRAMEWORKS: readonly string[] = readdirSync(join(ROOT, 'adapters'))
  .map((name) => `adapters/${name}`)
  .filter((room) => !(room in ROWS) && existsSync(join(ROOT, room, 'package.json')))

/** What each room may import: rooms by folder, packages and node: modules by name. `node:*` is any of them. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  ...ROWS,
  ...Object.fromEntries(FRAMEWORKS.map((room) => [room, allowedOf(room)])),
}

/** What Node's adapter stands on, its framework, and plugins that are named after that. */
function allowedOf(room: string): readonly string[] {
  const { dependencies = {}, peerDependencies = {} } = manifestOf(room)
  const frameworks = Object.keys(peerDependencies)
  const isPlugin = (name: string) => frameworks.some((framework) => name.startsWith(`${framework}-`))
  const plugins = Object.keys(dependencies).filter(isPlugin)
  return ['packages/core', 'packages/api', 'adapters/node', ...frameworks, ...plugins]
}

/** What the console's page may import. It is bundled: its libraries are needed to build it, and by nobody who installs it. */
export const PAGE = {
  folder: 'packages/sallyport/page',
  allowed: [
    ...['packages/ledger', 'buffer', 'preact', '@preact/signals', 'uplot', '@lezer/highlight'],
    ...['view', 'state', 'lint', 'language', 'lang-yaml', 'commands', 'autocomplete'].map((it) => `@codemirror/${it}`),
  ],
  /** What the routes answer: of this file, types alone. */
  types: 'packages/sallyport/src/console/routes/index.ts',
} as const

export interface Source {
  readonly path: string
  readonly text: string
  readonly imports: readonly string[]
}

/** Folder of a room's sources. */
export const folderOf = (room: string): string => (room === 'data' ? room : join(room, 'src'))

export function sourcesOf(room: string): readonly Source[] {
  return sourcesIn(folderOf(room), room !== 'data')
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

export function manifestOf(room: string): Readonly<Record<string, Readonly<Record<string, string>>>> {
  return JSON.parse(readFileSync(join(ROOT, room, 'package.json'), 'utf8'))
}

const FOLDERS = new Map(Object.keys(ROOMS).map((room) => [String(manifestOf(room)['name']), room]))

/** `@sallyport/core` → `packages/core`, `zod/v4` → `zod`, `@a/b/c` → `@a/b`. */
export function importedName(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
  return FOLDERS.get(name) ?? name
}

/** The rooms that each room imports. */
function importsOfRooms(): ReadonlyMap<string, readonly string[]> {
  const others = (room: string) => {
    const names = sourcesOf(room).flatMap(({ imports }) => imports.map(importedName))
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
      ` ${floor}  ${room.padEnd(width)}  ${(imports.get(room) ?? []).map((name) => name.replace(/^\w+\//, '')).join(' ')}`
    return [rooms.map((room) => row(room).trimEnd()).join('\n')]
  })
  return lines.toReversed().join('\n\n')
}
