/** Matches sentences that show the state of a domain. */
export interface Wordings<State extends string> {
  /** Returns the first state, in the order of the sets, that has a matching pattern. */
  find(lines: readonly string[]): State | undefined
}

/** An answer is a short sentence in a short paragraph, or the first or last of a long paragraph; terms of use are long paragraphs. */
const MAX_LINES = 4
const MAX_WORDS = 24
const MAX_WORDS_AT_EDGE = 8

/** These words mark conditions, which are no facts: `if you exceed`, `the service may be refused`. */
const CONDITION = /\b(?:may|might|if|whether|unless|agree|should|must|shall|terms|purposes?|rights|expressly)\b/

/** Compiles patterns, which match anywhere in a sentence. */
export function createWordings<State extends string>(
  sets: readonly (readonly [State, readonly string[]])[],
): Wordings<State> {
  const patterns = sets.map(([state, texts]) => [state, new RegExp(texts.join('|'))] as const)
  return {
    find(lines) {
      const found = sentences(lines)
      return patterns.find(([, pattern]) => found.some((line) => pattern.test(line)))?.[0]
    },
  }
}

function sentences(lines: readonly string[]): readonly string[] {
  const paragraphs: string[][] = [[]]
  for (const line of lines.map(sentenceForm)) {
    if (line === '') paragraphs.push([])
    else paragraphs.at(-1)?.push(line)
  }
  return paragraphs.flatMap((paragraph) =>
    paragraph.length <= MAX_LINES
      ? paragraph.filter((line) => isSentence(line, MAX_WORDS))
      : paragraph.filter(
          (line, at) => (at === 0 || at === paragraph.length - 1) && isSentence(line, MAX_WORDS_AT_EDGE),
        ),
  )
}

function isSentence(line: string, maxWords: number): boolean {
  return line.split(' ', maxWords + 1).length <= maxWords && !CONDITION.test(line)
}

/** A line is cut at this many characters. */
const MAX_READ = 160

/** Writes a line as the patterns expect it: lower case, without leading marks, with domain names as `@`. */
function sentenceForm(line: string): string {
  return line
    .slice(0, MAX_READ)
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
