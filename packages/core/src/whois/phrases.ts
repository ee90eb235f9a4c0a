/** Which of several sets of phrases a line starts with. */
export interface Phrases<State extends string> {
  find(lines: readonly string[], state: State): boolean
}

/** A phrase stands at the start of its line; what comes later is not looked at. */
const LONGEST_START = 160

/**
 * Phrases by their first letters, so that a line is compared with few of them. A line is put in the phrases' form first:
 * lower case, without marks in front, with domain names as `@`.
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

/** True where the phrase ends at the end of a word. */
function startsWith(text: string, phrase: string): boolean {
  return text.startsWith(phrase) && !/^[a-z\d\u0080-\uffff]/.test(text.slice(phrase.length))
}

function keyOf(text: string): string {
  return text.slice(0, 3)
}

/** The form of a line that phrases and wordings are compared with. */
export function phraseForm(line: string): string {
  return line
    .slice(0, LONGEST_START)
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
