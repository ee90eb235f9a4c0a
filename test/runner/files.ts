import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../workspaces.ts'
import { ofTurn } from './turn.ts'

/** Test files that run in one process, built, by their paths from the root. */
export interface Group {
  readonly name: string
  readonly files: readonly string[]
  readonly bytes: number
}

/** Built bytes of the files of one process: what starts and is held once for all of them stays small beside the tests. */
const MAX_BYTES = { quick: 200_000, long: 30_000 } as const

const isLong = (path: string): boolean => path.endsWith('.long.test.ts')

export function testSources(all: boolean, under: readonly string[]): readonly string[] {
  const named = under.filter((path) => path.endsWith('.ts') && existsSync(join(ROOT, path)))
  const found = workspaceFolders().flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts') && !/(^|\/)(node_modules|dist)\//.test(name))
      .map((name) => join(folder, name)),
  )
  const isUnder = (path: string) => under.length === 0 || under.some((folder) => path.startsWith(join(folder, '/')))
  const wanted = found.filter(isUnder)
  const long = all ? ofTurn(wanted.filter(isLong).sort()) : []
  return [...new Set([...named, ...long, ...wanted.filter((path) => !isLong(path))])].sort()
}

/** The files of each workspace in as many processes as they need; the long ones first, and the largest of each. */
export function groupSources(sources: readonly string[]): readonly Group[] {
  const groups = (gear: keyof typeof MAX_BYTES) =>
    workspaceFolders()
      .flatMap((folder) => {
        const own = sources.filter((path) => path.startsWith(`${folder}/`) && isLong(path) === (gear === 'long'))
        return splitParts(folder, own, gear)
      })
      .sort((one, other) => other.bytes - one.bytes)
  return [...groups('long'), ...groups('quick')]
}

function splitParts(folder: string, sources: readonly string[], gear: keyof typeof MAX_BYTES): readonly Group[] {
  const files = sources.map((path) => {
    const file = join(folder, 'dist', path.slice(folder.length + 1).replace(/ts$/, 'js'))
    return { file, size: statSync(join(ROOT, file)).size }
  })
  const total = files.reduce((sum, { size }) => sum + size, 0)
  const count = Math.ceil(total / MAX_BYTES[gear])
  const parts = Array.from({ length: count }, (): typeof files => [])
  let before = 0
  for (const file of files) {
    parts[Math.floor((before / total) * count)]?.push(file)
    before += file.size
  }
  const name = gear === 'long' ? `${folder} long` : folder
  return parts
    .map((part, at) => ({
      name: count === 1 ? name : `${name} ${at + 1}/${count}`,
      files: part.map(({ file }) => file),
      bytes: part.reduce((sum, { size }) => sum + size, 0),
    }))
    .filter(({ files }) => files.length > 0)
}

function workspaceFolders(): readonly string[] {
  const { workspaces } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { workspaces: string[] }
  return workspaces.flatMap((pattern) => {
    if (!pattern.endsWith('/*')) return [pattern]
    const top = pattern.slice(0, -2)
    return readdirSync(join(ROOT, top))
      .map((name) => join(top, name))
      .filter((folder) => existsSync(join(ROOT, folder, 'package.json')))
  })
}
