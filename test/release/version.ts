import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { OWN_VERSION, publishedWorkspaces, ROOT, readManifest } from '../workspaces.ts'

/* `node test/dist/release/version.js X.Y.Z`: the version of all packages but data's, wherever a file of the repository says it. */

/** The files beside manifests that say the version, of ours alone. */
export const NAMED: readonly string[] = [
  '.github/ISSUE_TEMPLATE/bug.yml',
  'examples/docker/Dockerfile',
  'examples/kubernetes/base/kustomization.yaml',
  'examples/kubernetes/chart/Chart.yaml',
  'packages/sallyport/docs/evidence.md',
]

/** The parts of the lock file that are workspaces, without data's. */
const LOCKED = /^ {4}"(?!data"|.*node_modules\/).*": \{\n[\s\S]*?^ {4}\}/gm

/** Each file that says the version, by its path from the root, with its text for another version. */
export function listTexts(version: string): ReadonlyMap<string, string> {
  const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
  const { version: before } = readManifest('.')
  const ours = publishedWorkspaces().flatMap(({ manifest: { name } }) => (name === OWN_VERSION ? [] : name))
  const said = `${before.replaceAll('.', '\\.')}(?=")`
  const own = new RegExp(`(?<=^ +"version": ")${said}`, 'm')
  const ranges = new RegExp(`(?<="(?:${ours.join('|')})": "\\W*)${said}`, 'g')
  const lock = read('package-lock.json').replaceAll(LOCKED, (part) => part.replace(own, version))
  const texts = new Map(NAMED.map((file) => [file, read(file).replaceAll(before, version)]))
  texts.set('package-lock.json', lock.replace(own, version).replaceAll(ranges, version))
  const manifests = execFileSync('git', ['ls-files', 'package.json', '*/package.json'], { cwd: ROOT, encoding: 'utf8' })
  for (const file of manifests.trim().split('\n')) {
    if (file !== 'data/package.json') texts.set(file, read(file).replace(own, version).replaceAll(ranges, version))
  }
  return texts
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [version = ''] = process.argv.slice(2)
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error('a version is three numbers, as 1.2.3')
  for (const [file, text] of listTexts(version)) writeFileSync(join(ROOT, file), text)
}
