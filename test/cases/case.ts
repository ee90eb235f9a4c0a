import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Product } from './product.ts'

/** One row of the table: an input, and how its answer compares with what its file expects. */
export interface Outcome {
  readonly input: string
  readonly expected: string
  readonly came: string
  /** Absent: it was not run, and `came` says why. */
  readonly ok: boolean | undefined
}

export interface CaseFile {
  /** The path is relative to the folder, as in `k07-leading-slashes.txt`. */
  readonly name: string
  readonly path: string
  readonly text: string
  /** The text of `kNN.expected.txt`; empty where there is none. */
  readonly expected: string
}

/** Judges the files of one form, which `takes` recognises, by the words of the case. */
export interface Judge {
  takes(file: CaseFile): boolean
  judge(file: CaseFile, product: Product): Promise<readonly Outcome[]>
}

/** Lists the files of a folder of cases and of the folders below it, without those that only explain others. */
export function caseFiles(folder: string): readonly CaseFile[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name)).sort()
  return paths
    .filter((path) => !/\.expected\.txt$|\.md$/.test(path))
    .map((path) => {
      const name = path.slice(folder.length + 1)
      const words = join(dirname(path), `${/[^/]*$/.exec(path)?.[0].split(/[-.]/, 1)[0]}.expected.txt`)
      const expected = paths.includes(words) ? readFileSync(words, 'utf8') : ''
      return { name, path, text: readFileSync(path, 'utf8'), expected }
    })
}

export function short(text: string, length = 60): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`
}

/** Returns the lines of a tab-separated table without empty lines. */
export function readRows(text: string): readonly (readonly string[])[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  return lines.map((line) => line.split('\t'))
}
