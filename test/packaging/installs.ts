import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { installedWith } from '../release/locked.ts'
import { publishedWorkspaces, ROOT, readManifest } from '../workspaces.ts'
import { install, run } from './npm.ts'

/**
 * Installs some of our workspaces and the tarballs that they depend on, then the frameworks of their peers. Resolves with the megabytes
 * of all files and the number of foreign packages, without the frameworks. Throws what npm said.
 */
export async function installWorkspaces(folder: string, rooms: readonly string[], tarballs: readonly string[]) {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const needed = new Set(installedWith(rooms))
  const names = publishedWorkspaces().flatMap(({ folder, manifest }) =>
    needed.has(folder) ? tarballName(manifest) : [],
  )
  const ours = tarballs.filter((file) => names.includes(basename(file)))
  await add(folder, ours)
  const modules = join(folder, 'node_modules')
  const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8'))
  const [megabytes, foreign] = [measureSize(modules) / 1e6, Object.keys(packages).length - ours.length]
  await add(folder, rooms.flatMap(listFrameworks))
  return { megabytes, foreign }
}

async function add(folder: string, names: readonly string[]): Promise<void> {
  const { code, output } = await install(folder, ['--legacy-peer-deps', ...names])
  if (code !== 0) throw new Error(output)
}

/** The frameworks that a workspace needs, in the versions of this repository. */
function listFrameworks(room: string): readonly string[] {
  const { peerDependencies = {}, peerDependenciesMeta = {} } = readManifest(room)
  const names = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)
  return names.map((name) => `${name}@${readVersion(name)}`)
}

export function readVersion(name: string): string {
  return JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')).version
}

export function tarballName({ name, version }: { readonly name: string; readonly version: string }): string {
  return `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
}

/** Sums the bytes of the files below a folder, and counts a file of several names once. */
export function measureSize(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile())
  const stats = entries.map((entry) => statSync(join(entry.parentPath, entry.name)))
  const sizes = new Map(stats.map(({ dev, ino, size }) => [`${dev}:${ino}`, size]))
  return [...sizes.values()].reduce((sum, size) => sum + size, 0)
}

/** Returns the Node of a line: this one, or npm's in a folder of its own; undefined if that cannot be installed. */
export async function findNode(line: number, folder: string): Promise<string | undefined> {
  if (process.versions.node.startsWith(`${line}.`)) return process.execPath
  mkdirSync(folder)
  await install(folder, ['--prefix', folder, `node@${line}`])
  const path = join(folder, 'node_modules/node/bin/node')
  return existsSync(path) ? path : undefined
}

/** The recorded requests come from these peers, in turn: a home, a Tor exit, a VPN, a crawler, a rented server. */
const PEERS = ['73.162.10.20', '185.220.101.10', '45.83.220.10', '66.249.66.1', '5.9.10.20', '2001:db8::1']
const SETS = ['browsers', 'clients'].map((name) => join(ROOT, `bench/accuracy/sets/${name}.jsonl`))

/** Returns decisions about the benches' recorded requests without their time, by one of our packages as `folder` finds it. */
export async function decideRecorded(
  node: string,
  [room = '']: readonly string[],
  folder: string,
  dataDir: string,
): Promise<string> {
  const text = `import { readFileSync } from 'node:fs'
import { open } from '${readManifest(room).name}'
const settings = { data: { refresh: false, city: false }, net: { outbound: false } }
const sallyport = await open({ dataDir: ${JSON.stringify(dataDir)}, ...settings })
const rows = ${JSON.stringify(SETS)}.flatMap((file) => readFileSync(file, 'utf8').trim().split('\\n')).map((line) => JSON.parse(line))
const peers = ${JSON.stringify(PEERS)}
for (const [at, { headers, method = 'GET', target = '/', ...row }] of rows.entries()) {
  const decision = sallyport.decide({ ...row, method, target, peer: peers[at % peers.length], fields: headers.flat() })
  console.log(JSON.stringify(decision, (key, value) => (key === 'at' ? undefined : value)))
}
await sallyport.close()`
  const { code, output } = await run(node, ['--input-type=module', '-e', text], folder)
  const decisions = output.split('\n').filter((line) => line.startsWith('{'))
  if (code !== 0 || decisions.length === 0) throw new Error(output)
  return decisions.join('\n')
}
