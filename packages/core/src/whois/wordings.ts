import { phraseForm } from './phrases.ts'

/** Which state the sentences of an answer speak of. */
export interface Wordings<State extends string> {
  /** The first state, in the order of the sets, that a sentence of the text speaks of. */
  find(lines: readonly string[]): State | undefined
}

/** A verdict is a short sentence by itself, or begins or ends a paragraph; terms of use are long paragraphs. */
const MOST_LINES = 4
const MOST_WORDS = 24
const MOST_WORDS_AT_EDGE = 8

/** Words of conditions, which speak of what could be: `if you exceed`, `the service may be refused`. */
const CONDITION = /\b(?:may|might|if|whether|unless|agree|should|must|shall|terms|purposes?|rights|expressly)\b/

/** Reads what no known phrase says, by patterns that match anywhere in a sentence. */
export function createWordings<State extends string>(
  sets: readonly (readonly [State, readonly string[]])[],
): Wordings<State> {
  const patterns = sets.map(([state, texts]) => [state, new RegExp(texts.join('|'))] as const)
  return {
    find(lines) {
      const told = sentences(lines)
      return patterns.find(([, pattern]) => told.some((line) => pattern.test(line)))?.[0]
    },
  }
}

function sentences(lines: readonly string[]): readonly string[] {
  const paragraphs: string[][] = [[]]
  for (const line of lines.map(phraseForm)) {
    if (line === '') paragraphs.push([])
    else paragraphs.at(-1)?.push(line)
  }
  return paragraphs.flatMap((paragraph) =>
    paragraph.length <= MOST_LINES
      ? paragraph.filter((line) => isSentence(line, MOST_WORDS))
      : paragraph.filter(
          (line, at) => (at === 0 || at === paragraph.length - 1) && isSentence(line, MOST_WORDS_AT_EDGE),
        ),
  )
}

function isSentence(line: string, mostWords: number): boolean {
  return line.split(' ', mostWords + 1).length <= mostWords && !CONDITION.test(line)
}
