import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { CaseFile } from './case.ts'

/** The files of a folder of cases, and of those below it; what only says what others expect is none. */
export function caseFiles(folder: string): readonly CaseFile[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const read = (path: string): CaseFile => ({
    name: path.slice(folder.length + 1),
    text: readFileSync(path, 'utf8'),
    expected: readExpected(path, paths),
    path,
    beside(name) {
      const other = join(dirname(path), name)
      return paths.includes(other) ? read(other) : undefined
    },
  })
  return paths
    .filter((path) => !/\.expected\.txt$|\.md$/.test(path))
    .sort()
    .map(read)
}

/** `k06-upgrade-h2c.http` is explained by `k06-upgrade-h2c.expected.txt`, or by `k06.expected.txt`. */
function readExpected(path: string, paths: readonly string[]): string {
  const stem = basename(path).replace(/\.[^.]+$/, '')
  const names = [stem, stem.split('-', 1)[0]].map((name) => join(dirname(path), `${name}.expected.txt`))
  const found = names.find((name) => name !== path && paths.includes(name))
  return found === undefined ? '' : readFileSync(found, 'utf8')
}
