import { documents } from './fences.ts'

/** Counts what has a letter or a digit: a mark between two cells is no word. */
export function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
}

/** Reports whether customers read a document; the others are for contributors, or are histories and figures. */
export function isForCustomers(path: string): boolean {
  return /^(?:README|(?:adapters|data|examples|packages)\/)/.test(path)
}

/** Lists the documents with their words, the longest first, and the sums. */
export function listWords(read: (path: string) => string): readonly string[] {
  const rows = documents().map((path) => ({ path, words: countWords(read(path)) }))
  const sum = (chosen: typeof rows) => chosen.reduce((total, { words }) => total + words, 0)
  return [
    ...rows.sort((one, other) => other.words - one.words).map(({ path, words }) => `${words} ${path}`),
    `${sum(rows.filter(({ path }) => isForCustomers(path)))} for customers`,
    `${sum(rows)} in all`,
  ]
}
