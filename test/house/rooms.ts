import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { ROOT } from '../workspaces.ts'

/** Packages whose folders below src are rooms of their own. */
const HOUSES = ['packages/engine', 'packages/sallyport']

/** What each room may import, by words: a room, a package of npm, `node:*`, and `#name` for a neighbour in the same package. */
const ROWS = {
  data: [],
  'packages/core': split(
    'data @eslint-community/regexpp iso-3166 leven lru-cache re2js structured-headers tldts node:crypto',
  ),
  'packages/ledger': split('asn1js canonicalize pkijs node:crypto'),
  ...within('packages/engine', {
    accounts: 'node:crypto',
    api: 'packages/core packages/ledger #accounts packages/engine/openapi.json zod node:crypto',
    files: 'packages/core node:*',
    datasets: 'packages/core #files data maxmind @photostructure/tz-lookup node:*',
    net: 'packages/core undici node:*',
    whois: 'packages/core data lru-cache',
    stores: 'packages/core packages/ledger #accounts #files @photostructure/sqlite pg @redis/client lru-cache node:*',
    log: 'packages/core #files sonic-boom node:*',
    metrics: 'packages/core prom-client',
    tally: 'packages/core #stores node:*',
    settings: 'packages/core #log yaml zod node:*',
    service: `packages/core #accounts #api #datasets #files #log #metrics #net #settings #stores #whois proxy-from-env
      zod node:*`,
    attestation: `packages/core packages/ledger data #api #datasets #files #service #settings #stores yaml
      node:*`,
    features: `packages/core packages/ledger #api #attestation #datasets #files #log #service #settings #stores #tally
      better-auth lru-cache zod node:*`,
    config: 'packages/core #datasets #features #files #service #settings yaml zod node:*',
    doctor: 'packages/core #attestation #config #datasets #features #files #net #service #settings #stores node:*',
    open: `packages/core #accounts #api #attestation #config #datasets #doctor #features #metrics #service #tally
      @opentelemetry/api node:*`,
    '': '#accounts #api #datasets #features #log #metrics #net #open #stores #tally #whois',
  }),
  'adapters/node': split('packages/core packages/engine negotiator node:*'),
  'adapters/fetch': split('packages/core packages/engine adapters/node hono node:*'),
  'adapters/proxy': split('packages/core packages/engine adapters/node undici http-proxy acme-client node:*'),
  ...within('packages/sallyport', {
    console: 'packages/core packages/engine node:*',
    cli: 'packages/core packages/ledger packages/engine adapters/proxy #console commander node:*',
    '': 'packages/core packages/engine',
  }),
} as Readonly<Record<string, readonly string[]>>

/** The adapters of Node's frameworks, which have a rule in place of a row: they translate, and their manifest names the framework. */
export const FRAMEWORKS: readonly string[] = readdirSync(join(ROOT, 'adapters'))
  .map((name) => `adapters/${name}`)
  .filter((room) => !(room in ROWS) && existsSync(join(ROOT, room, 'package.json')))

/** Imports that each room may have: rooms by folder, packages and node: modules by name. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  ...ROWS,
  ...Object.fromEntries(FRAMEWORKS.map((room) => [room, listAllowed(room)])),
}

export const BUDGETS: Readonly<Record<string, number>> = {
  data: 739,
  'packages/core': 21_877,
  'packages/ledger': 4_512,
  'packages/engine/accounts': 327,
  'packages/engine/api': 2_324,
  'packages/engine/files': 362,
  'packages/engine/datasets': 7_442,
  'packages/engine/net': 732,
  'packages/engine/whois': 1_136,
  'packages/engine/stores': 4_440,
  'packages/engine/log': 734,
  'packages/engine/metrics': 716,
  'packages/engine/tally': 1_550,
  'packages/engine/settings': 1_213,
  'packages/engine/service': 1_838,
  'packages/engine/attestation': 784,
  'packages/engine/features': 4_808,
  'packages/engine/config': 1_580,
  'packages/engine/doctor': 918,
  'packages/engine/open': 1_359,
  'packages/engine': 23,
  'adapters/node': 4_756,
  'adapters/fetch': 657,
  'adapters/proxy': 8_130,
  'packages/sallyport/console': 2_993,
  'packages/sallyport/cli': 7_016,
  'packages/sallyport': 53,
  'adapters/express': 111,
  'adapters/fastify': 188,
  'adapters/koa': 122,
  'packages/sallyport/page': 3_538,
}

/** Lists the imports that a framework's adapter may have: Node's, its framework, and plugins named after the framework. */
function listAllowed(room: string): readonly string[] {
  const { dependencies = {}, peerDependencies = {} } = readManifest(room)
  const frameworks = Object.keys(peerDependencies)
  const plugins = Object.keys(dependencies).filter((name) => frameworks.some((other) => name.startsWith(`${other}-`)))
  return ['packages/core', 'packages/engine', 'adapters/node', ...frameworks, ...plugins]
}

/** Permitted imports of the console's page. It is bundled: only its build needs its libraries. */
export const PAGE = {
  folder: 'packages/sallyport/page',
  allowed: [
    ...split('preact @preact/signals uplot @lezer/highlight'),
    ...['view', 'state', 'lint', 'language', 'lang-yaml', 'commands', 'autocomplete'].map((it) => `@codemirror/${it}`),
  ],
  /** Types of the routes' answers: of this file, types alone. */
  types: 'packages/sallyport/src/console/routes/index.ts',
} as const

function split(words: string): readonly string[] {
  return words.split(/\s+/)
}

function within(house: string, rooms: Readonly<Record<string, string>>): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    Object.entries(rooms).map(([name, words]) => [
      name === '' ? house : `${house}/${name}`,
      split(words).map((word) => word.replace(/^#/, `${house}/`)),
    ]),
  )
}

export interface Source {
  readonly path: string
  readonly text: string
  readonly imports: readonly string[]
}

/** The package that holds a room: `packages/engine` of `packages/engine/stores`. */
export const findPackage = (room: string): string => room.split('/').slice(0, 2).join('/')

export function findFolder(room: string): string {
  return room === 'data' ? room : join(findPackage(room), 'src', room.slice(findPackage(room).length))
}

export function readSources(room: string): readonly Source[] {
  return sourcesIn(findFolder(room), room !== 'data' && !HOUSES.includes(room))
}

export function sourcesIn(folder: string, recursive = true): readonly Source[] {
  const names = readdirSync(join(ROOT, folder), { recursive, encoding: 'utf8' })
  return names
    .filter((name) => /\.tsx?$/.test(name) && !name.startsWith('dist/'))
    .map((name) => {
      const path = join(folder, name)
      const text = readFileSync(join(ROOT, path), 'utf8')
      // The compiler finds imports of types and dynamic imports too.
      const imports = ts.preProcessFile(text, true).importedFiles.map(({ fileName }) => fileName)
      return { path, text, imports }
    })
}

export function readManifest(folder: string): Readonly<Record<string, Readonly<Record<string, string>>>> {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
}

const FOLDERS = new Map(
  [...new Set(Object.keys(ROOMS).map(findPackage))].map((it) => [String(readManifest(it)['name']), it]),
)

/** Names an import by room: `@sallyport/core/host` → `packages/core`, `#stores/testing` → `packages/engine/stores`, `@a/b/c` → `@a/b`. */
export function importedName(specifier: string, room = ''): string {
  if (specifier.startsWith('node:')) return specifier
  const [scope = '', name = ''] = specifier.split('/')
  if (scope.startsWith('#')) return `${findPackage(room)}/${scope.slice(1)}`
  const found = scope.startsWith('@') ? `${scope}/${name}` : scope
  return FOLDERS.get(found) ?? found
}
