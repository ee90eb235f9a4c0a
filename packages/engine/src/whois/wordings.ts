import { WHOIS_FORMATS } from '@sallyport/data/whois-formats'

/** An answer is a short sentence in a short paragraph, or the first or last of a long paragraph; terms of use are long paragraphs. */
const MAX_LINES = 4
const MAX_WORDS = 24
const MAX_WORDS_AT_EDGE = 8

/** These words mark conditions, which are no facts: `if you exceed`, `the service may be refused`. */
const CONDITION = /\b(?:may|might|if|whether|unless|agree|should|must|shall|terms|purposes?|rights|expressly)\b/

/** The more certain states first: a refusal may name the domain, and a reserved one is `not available` as a free one is. */
const PATTERNS = (['elsewhere', 'throttled', 'reserved', 'free'] as const).map(
  (state) => [state, new RegExp(WHOIS_FORMATS.wordings[state].join('|'))] as const,
)

/** Finds the first state that a sentence shows. The patterns match anywhere in a sentence. */
export function findWording(lines: readonly string[]) {
  const found = sentences(lines)
  return PATTERNS.find(([, pattern]) => found.some((line) => pattern.test(line)))?.[0]
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
