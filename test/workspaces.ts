import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '../..')

const REPOSITORY = 'https://github.com/sallyport/sallyport'

type Names = Readonly<Record<string, string>>

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean | undefined
  readonly description?: string | undefined
  readonly keywords?: readonly string[] | undefined
  readonly files?: readonly string[] | undefined
  readonly bin?: Names | undefined
  readonly exports?: Readonly<Record<string, string | Names>> | undefined
  readonly dependencies?: Names | undefined
  readonly optionalDependencies?: Names | undefined
  readonly peerDependencies?: Names | undefined
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean | undefined }>> | undefined
}

/** A workspace that npm publishes: its folder from the root, as `packages/core`, and its manifest. */
export interface Workspace {
  readonly folder: string
  readonly manifest: Manifest
}

/** The package that has a version of its own: it is also released alone. */
export const OWN_VERSION = '@sallyport/data'

export function publishedWorkspaces(): readonly Workspace[] {
  const rooms = ['packages', 'adapters'].flatMap((floor) =>
    readdirSync(join(ROOT, floor)).map((name) => `${floor}/${name}`),
  )
  return ['data', ...rooms]
    .filter((folder) => existsSync(join(ROOT, folder, 'package.json')))
    .map((folder) => ({ folder, manifest: readManifest(folder) }))
    .filter(({ manifest }) => manifest.private !== true)
}

/** The examples that are projects of their own, by their folders. */
export function exampleProjects(): readonly string[] {
  const folder = join(ROOT, 'examples')
  return readdirSync(folder).filter((name) => existsSync(join(folder, name, 'package.json')))
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
}

/** The fields that all published manifests have alike, beside those that only differ by the folder. */
export function sharedFields(folder: string): Readonly<Record<string, unknown>> {
  return {
    license: 'Apache-2.0',
    author: 'The Sallyport maintainers',
    homepage: `${REPOSITORY}/tree/main/${folder}#readme`,
    repository: { type: 'git', url: `git+${REPOSITORY}.git`, directory: folder },
    bugs: { url: `${REPOSITORY}/issues` },
    type: 'module',
    engines: { node: '^20.19 || >=22.13' },
    publishConfig: { access: 'public' },
    sideEffects: false,
  }
}

/** Files of the root that every tarball holds; npm takes no file from outside a workspace, nor through a link. */
export const SHARED_FILES = ['LICENSE', 'NOTICE']
