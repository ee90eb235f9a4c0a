import type { Product } from './product.ts'

/** One row of the table: an input, and how its answer compares with what its file expects. */
export interface Outcome {
  readonly input: string
  readonly expected: string
  readonly came: string
  /** Absent: it was not run, and `came` says why. */
  readonly ok: boolean | undefined
}

/** A file of the folder, and those beside it that belong to the same case. */
export interface CaseFile {
  /** The path is relative to the folder, as in `k07-leading-slashes.txt`. */
  readonly name: string
  readonly text: string
  /** The text of `kNN.expected.txt`, or of a file of the same name with that end; empty where there is none. */
  readonly expected: string
  /** Judges that read other files need the path on disk. */
  readonly path: string
  /** Another file of its folder, by the name; `undefined` where there is none. */
  beside(name: string): CaseFile | undefined
}

/** Judges the files of one form, which `takes` says of a file; each is judged by the words of the case. */
export interface Judge {
  takes(file: CaseFile): boolean
  judge(file: CaseFile, product: Product): Promise<readonly Outcome[]>
}

/** Writes a text as one short line of a table. */
export function short(text: string, length = 60): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`
}

/** Returns the lines of a tab-separated table without empty lines. */
export function readRows(text: string): readonly (readonly string[])[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  return lines.map((line) => line.split('\t'))
}
