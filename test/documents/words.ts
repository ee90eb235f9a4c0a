/** Counts what has a letter or a digit: a mark between two cells is no word. */
export function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
}

/** Reports whether customers read a document; the others are for contributors, or are histories and figures. */
export function isForCustomers(path: string): boolean {
  return /^(?:README|(?:adapters|data|examples|packages)\/)/.test(path)
}
