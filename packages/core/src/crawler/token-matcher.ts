/** Limits the characters of a user agent that are read; the rest makes no claim. */
export const MAX_CHARACTERS = 1024

/** A token has a position in the list of tokens, and a start and an end in the text. */
export interface TokenMatch {
  readonly token: number
  readonly start: number
  readonly end: number
}

/** Finds the first of many tokens in a text. */
export interface TokenMatcher {
  /**
   * Returns the first token that starts at or after `from`, and of several with one start the longest. Ignores case. A token has word
   * boundaries at both ends.
   */
  find(text: string, from?: number): TokenMatch | undefined
}

/**
 * Builds a trie in one typed array, and walks it from each start of a word. It uses no regular expression and goes back only to the next
 * word, so its time is bounded by the length of the text times the words of the longest token. Tokens are ASCII and begin with a letter or
 * digit; throws `TypeError` where one does not, or where one occurs twice.
 */
export function createTokenMatcher(tokens: readonly string[]): TokenMatcher {
  const folded = tokens.map((token) => token.toLowerCase())
  const { classes, count } = groupCharacters(folded)
  const states = 1 + folded.reduce((sum, token) => sum + token.length, 0)
  const next = new Int32Array(states * count)
  const ends = new Int32Array(states).fill(-1)
  let made = 1
  folded.forEach((token, index) => {
    if (!isWord(token.charCodeAt(0))) throw new TypeError(`a token begins with a letter or digit: ${token}`)
    let state = 0
    for (let at = 0; at < token.length; at++) {
      const slot = state * count + (classes[token.charCodeAt(at)] as number)
      if (next[slot] === 0) next[slot] = made++
      state = next[slot] as number
    }
    if (ends[state] !== -1) throw new TypeError(`a token is there twice: ${token}`)
    ends[state] = index
  })

  function longestAt(text: string, start: number, end: number): TokenMatch | undefined {
    let longest = -1
    let longestEnd = start
    let state = 0
    for (let at = start; at < end; at++) {
      const code = text.charCodeAt(at)
      const symbol = code < 128 ? (classes[code] as number) : 0
      if (symbol === 0) break
      state = next[state * count + symbol] as number
      if (state === 0) break
      const token = ends[state] as number
      if (token >= 0 && !(isWord(code) && isWord(text.charCodeAt(at + 1)))) {
        longest = token
        longestEnd = at + 1
      }
    }
    return longest === -1 ? undefined : { token: longest, start, end: longestEnd }
  }

  return {
    find(text, from = 0) {
      const end = Math.min(text.length, MAX_CHARACTERS)
      let within = from > 0 && isWord(text.charCodeAt(from - 1))
      for (let at = from; at < end; at++) {
        const code = text.charCodeAt(at)
        if (code < 128 && WORD[code] === 0) {
          within = false
        } else if (!within) {
          within = true
          // Most words start like no token: they cost this one read.
          if (code >= 128 || next[classes[code] as number] === 0) continue
          const found = longestAt(text, at, end)
          if (found !== undefined) return found
        }
      }
      return undefined
    },
  }
}

/** Numbers the characters that tokens hold from 1, both cases alike; 0 is every other. */
function groupCharacters(folded: readonly string[]): { readonly classes: Uint8Array; readonly count: number } {
  const classes = new Uint8Array(128)
  let count = 1
  for (const character of new Set(folded.join(''))) {
    const code = character.charCodeAt(0)
    if (code >= 128) throw new TypeError(`a token is ASCII: ${character}`)
    classes[code] = count
    classes[character.toUpperCase().charCodeAt(0)] = count
    count++
  }
  return { classes, count }
}

/** Marks ASCII letters and digits: a table, because every character of every user agent is looked up. */
const WORD = Uint8Array.from({ length: 128 }, (_, code) => {
  const letter = code | 32
  return (letter >= 97 && letter <= 122) || (code >= 48 && code <= 57) ? 1 : 0
})

/** Reports whether a character is a letter, a digit or not ASCII; false for the end of a text (`NaN`). */
function isWord(code: number): boolean {
  return code >= 128 || WORD[code] === 1
}
