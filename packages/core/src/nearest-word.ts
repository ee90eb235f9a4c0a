import { closestMatch } from 'leven'

/** Returns the known word that differs by at most `most` letters, by default fewer than half of them. */
export function nearestWord(
  word: string,
  known: readonly string[],
  most = Math.floor(word.length * 0.45),
): string | undefined {
  const folded = word.toLowerCase()
  const sameLetters = known.find((other) => other.toLowerCase() === folded)
  if (sameLetters !== undefined) return sameLetters
  const words = new Map(known.map((other) => [other.toLowerCase(), other]))
  const nearest = closestMatch(folded, [...words.keys()], { maxDistance: most })
  return nearest === undefined ? undefined : words.get(nearest)
}

/** Writes the end of a sentence about a wrong word: `; did you mean "tor"?`, else the words where they are few, else nothing. */
export function suggestion(word: string, known: readonly string[]): string {
  const nearest = nearestWord(word, known)
  if (nearest !== undefined) return `; did you mean "${nearest}"?`
  return known.length <= MAX_LISTED ? `: expected ${known.join(', ')}` : ''
}

const MAX_LISTED = 12
