/** Sets of phrases, by the state of a domain that they mean. */
export interface Phrases<State extends string> {
  /** Whether a line starts with a phrase of this state. */
  find(lines: readonly string[], state: State): boolean
}

/** Characters read of a line: a phrase is at its start. */
const MAX_START_LENGTH = 160

/**
 * Indexes phrases by their first three letters, so that a line is compared with few of them. Phrases are written in the
 * form of `phraseForm`; one that ends with `$` is a whole line.
 */
export function createPhrases<State extends string>(sets: Readonly<Record<State, readonly string[]>>): Phrases<State> {
  const indexes = new Map<string, ReadonlyMap<string, readonly string[]>>(
    Object.entries<readonly string[]>(sets).map(([state, phrases]) => [state, byStart(phrases)]),
  )
  return {
    find(lines, state) {
      return lines.some((line) => {
        const start = phraseForm(line)
        const phrases = indexes.get(state)?.get(keyOf(start)) ?? []
        return phrases.some((phrase) => (phrase.endsWith('$') ? `${start}$` === phrase : startsWith(start, phrase)))
      })
    },
  }
}

function byStart(phrases: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const index = new Map<string, string[]>()
  for (const phrase of phrases) {
    const key = keyOf(phrase)
    const same = index.get(key)
    if (same === undefined) index.set(key, [phrase])
    else same.push(phrase)
  }
  return index
}

/** Whether the text starts with the phrase, and the phrase ends with a word. */
function startsWith(text: string, phrase: string): boolean {
  return text.startsWith(phrase) && !/^[a-z\d\u0080-\uffff]/.test(text.slice(phrase.length))
}

function keyOf(text: string): string {
  return text.slice(0, 3)
}

/** A line as phrases and wordings are compared with it: lower case, without marks in front, domain names as `@`. */
export function phraseForm(line: string): string {
  return line
    .slice(0, MAX_START_LENGTH)
    .toLowerCase()
    .replace(/^[%#*;>.&\s-]+/, '')
    .split(/\s+/)
    .map((word) => word.replace(/^["'“‘`<]+|["'”’`>.!]+$/g, ''))
    .map((word) =>
      /^[^\s.:/]+\.[^\s:/]*[^\s.:/,][,:]?$/.test(word.replace(/["']/g, ''))
        ? `@${/[,:]$/.exec(word)?.[0] ?? ''}`
        : word,
    )
    .join(' ')
}
