import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { OWN_VERSION, publishedWorkspaces, ROOT } from '../workspaces.ts'

/* `node test/dist/release/version.js X.Y.Z`: the version of all packages but data's, wherever a file of the repository says it. */

/** The files beside manifests that say the version, of ours alone. */
export const NAMED: readonly string[] = [
  '.github/ISSUE_TEMPLATE/bug.yml',
  'examples/docker/Dockerfile',
  'examples/kubernetes/base/kustomization.yaml',
  'examples/kubernetes/chart/Chart.yaml',
  'packages/sallyport/docs/evidence.md',
]

type Members = Record<string, unknown>

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null

/** A manifest, or a package of the lock file, with the version where it is ours and in every range of ours. */
function renamed(manifest: Members, own: boolean, ours: ReadonlySet<string>, version: string): Members {
  const ranges = (value: unknown): unknown =>
    isMembers(value)
      ? Object.fromEntries(
          Object.entries(value).map(([name, range]) => [
            name,
            ours.has(name) && typeof range === 'string' ? range.replace(/\d+\.\d+\.\d+$/, version) : range,
          ]),
        )
      : value
  const fields = Object.entries(manifest).map(([name, value]) => [
    name,
    name === 'version' && own ? version : /ependencies$/.test(name) ? ranges(value) : value,
  ])
  return Object.fromEntries(fields) as Members
}

/** Each file that says the version, by its path from the root, with its text for another version. */
export function listTexts(version: string): ReadonlyMap<string, string> {
  const ours = new Set(publishedWorkspaces().flatMap(({ manifest: { name } }) => (name === OWN_VERSION ? [] : name)))
  const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
  const before = (JSON.parse(read('package.json')) as { readonly version: string }).version
  const texts = new Map(NAMED.map((file) => [file, read(file).replaceAll(before, version)]))
  const lock = JSON.parse(read('package-lock.json')) as Members & { readonly packages: Record<string, Members> }
  const packages = Object.entries(lock.packages).map(([path, entry]) => {
    const own = !path.includes('node_modules/') && entry['version'] === before && entry['name'] !== OWN_VERSION
    return [path, path.includes('node_modules/') ? entry : renamed(entry, own, ours, version)]
  })
  const locked = { ...lock, version, packages: Object.fromEntries(packages) }
  texts.set('package-lock.json', `${JSON.stringify(locked, null, 2)}\n`)
  const manifests = execFileSync('git', ['ls-files', 'package.json', '*/package.json'], { cwd: ROOT, encoding: 'utf8' })
  for (const file of manifests.trim().split('\n')) {
    const manifest = JSON.parse(read(file)) as Members
    if (manifest['name'] === OWN_VERSION) continue
    texts.set(file, `${JSON.stringify(renamed(manifest, manifest['version'] === before, ours, version), null, 2)}\n`)
  }
  return texts
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [version = ''] = process.argv.slice(2)
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error('a version is three numbers, as 1.2.3')
  for (const [file, text] of listTexts(version)) writeFileSync(join(ROOT, file), text)
}
