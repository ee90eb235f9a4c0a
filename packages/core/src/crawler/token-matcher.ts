/** Limits the characters of a user agent that are read; the rest makes no claim. */
export const MAX_CHARACTERS = 1024

/** A token has a position in the list of tokens, and a start and an end in the text. */
interface TokenMatch {
  readonly token: number
  readonly start: number
  readonly end: number
}

/**
 * Finds the first of many tokens in a text. A token has word boundaries at both ends, so its first word is a whole word of the text: each
 * word costs one lookup. Tokens are ASCII and begin with a letter or digit; throws `TypeError` where one does not, or where one occurs twice.
 */
export function createTokenMatcher(tokens: readonly string[]) {
  const byWord = new Map<string, { readonly folded: string; readonly token: number }[]>()
  for (const [token, text] of tokens.entries()) {
    const folded = text.toLowerCase()
    let end = 0
    while (isWord(folded, end)) end++
    const word = folded.slice(0, end)
    const isAscii = Array.from(folded).every((character) => character.charCodeAt(0) < 128)
    if (word === '' || !isAscii) throw new TypeError(`a token is ASCII and begins with a letter or digit: ${text}`)
    const known = byWord.get(word) ?? []
    if (known.some((other) => other.folded === folded)) throw new TypeError(`a token is there twice: ${text}`)
    // The longest is tried first.
    byWord.set(
      word,
      [...known, { folded, token }].sort((one, other) => other.folded.length - one.folded.length),
    )
  }
  return {
    /** Returns the first token that starts at or after `from`, and of several with one start the longest. Ignores case. */
    find(whole: string, from = 0): TokenMatch | undefined {
      const text = whole.slice(0, MAX_CHARACTERS)
      for (let at = from; at < text.length; at++) {
        if (!isWord(text, at) || isWord(text, at - 1)) continue
        const start = at
        while (isWord(text, at)) at++
        for (const { folded, token } of byWord.get(text.slice(start, at).toLowerCase()) ?? []) {
          const end = start + folded.length
          const isWhole = !isWord(whole, end - 1) || !isWord(whole, end)
          if (isWhole && text.slice(start, end).toLowerCase() === folded) return { token, start, end }
        }
      }
      return undefined
    },
  }
}

/** Reports whether a character is a letter, a digit or not ASCII; false beyond the text (`NaN`). */
function isWord(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  const letter = code | 32
  return code >= 128 || (letter >= 97 && letter <= 122) || (code >= 48 && code <= 57)
}
