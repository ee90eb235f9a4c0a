import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { publishedWorkspaces, ROOT } from '../workspaces.ts'

type Names = Readonly<Record<string, string>>

interface Locked {
  readonly version?: string | undefined
  /** It is a workspace, and `resolved` its folder. */
  readonly link?: true | undefined
  readonly resolved?: string | undefined
  readonly dependencies?: Names | undefined
  readonly optionalDependencies?: Names | undefined
}

/** Reads the packages of the lock file by their path from the root: `packages/core`, `node_modules/pino`. */
const LOCKED: Readonly<Record<string, Locked>> = JSON.parse(
  readFileSync(join(ROOT, 'package-lock.json'), 'utf8'),
).packages

const OURS = new Map(publishedWorkspaces().map(({ folder, manifest }) => [folder, manifest.name]))

/** The path of the package that an import of `name` finds from the folder `from`, as Node looks for it. */
export function findFrom(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name)
    const found = LOCKED[path]
    if (found !== undefined) return found.link ? found.resolved : path
    if (folder === '.') return undefined
  }
}

/** The paths of these packages and of all that they depend on. Peers are not among them: those are the customer's. */
export function installedWith(paths: readonly string[]): readonly string[] {
  const found = new Set(paths)
  for (const path of found) {
    const { dependencies, optionalDependencies } = LOCKED[path] ?? {}
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const next = findFrom(path, name)
      if (next !== undefined) found.add(next)
    }
  }
  return [...found]
}

/** Maps a locked package to its installed place: `packages/core/node_modules/x` is `node_modules/@sallyport/core/node_modules/x`. */
export function readPlace(path: string): string {
  const folder = [...OURS.keys()].find((it) => path === it || path.startsWith(`${it}/`))
  return folder === undefined ? path : join('node_modules', OURS.get(folder) ?? '', path.slice(folder.length))
}

export function readTitle(path: string): string {
  const name = OURS.get(path) ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  return `${name}@${LOCKED[path]?.version}`
}

/**
 * Writes manifest and lock file of a project that has installed all our packages, as the lock file of this repository has them. npm's
 * own bill and audit of workspaces list what private workspaces need, and leave out half of what ours do.
 */
export function writeLockedProject(folder: string): void {
  const project = {
    name: 'sallyport',
    version: LOCKED['packages/sallyport']?.version,
    dependencies: Object.fromEntries([...OURS].map(([path, name]) => [name, LOCKED[path]?.version])),
  }
  const packages = installedWith([...OURS.keys()]).map((path) => {
    const { version, dependencies, optionalDependencies } = LOCKED[path] ?? {}
    const own = { version, license: 'Apache-2.0', dependencies, optionalDependencies }
    return [readPlace(path), OURS.has(path) ? own : LOCKED[path]] as const
  })
  const lock = { ...project, lockfileVersion: 3, packages: Object.fromEntries([['', project], ...packages]) }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(project))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
}
