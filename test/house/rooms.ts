import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'
import { ROOT } from '../workspaces.ts'

/** What each room may import: rooms by folder, packages and node: modules by name. `node:*` is any of them. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
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

export interface Source {
  readonly path: string
  readonly text: string
  readonly imports: readonly string[]
}

/** The sources of a room, by the compiler's own reading of their imports. */
export function sourcesOf(room: string): readonly Source[] {
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
