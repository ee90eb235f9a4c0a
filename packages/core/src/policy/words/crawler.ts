import { CRAWLERS } from '@sallyport/data/crawlers'
import { CRAWLER_OUTCOMES, CRAWLER_PURPOSES } from '../../vocabulary.ts'
import { wordFault } from '../language/fault.ts'
import { anyWord, texts } from '../language/values.ts'
import { mayRestOn, OF_AGENT, testValue, word } from './match-word.ts'

/** `ai` matches any client that is or claims to be an AI, proven or not: the purposes training, ai-search, user-fetch and agent. */
const PURPOSES = [...CRAWLER_PURPOSES, 'ai'] as const

export const SLUGS: readonly string[] = CRAWLERS.map(({ slug }) => slug)
export const OPERATORS: readonly string[] = [...new Set(CRAWLERS.map(({ operator }) => operator))]

const KNOWN_SLUGS = texts((slug) => wordFault(slug, SLUGS))
const KNOWN_OPERATORS = texts((operator) => wordFault(operator, OPERATORS))

/** Holds conditions on crawlers, by the claim of the user agent; operator and purpose also match by signature. */
export const CRAWLER_WORDS = {
  crawler: word('Crawler slugs from the catalogue', KNOWN_SLUGS, {
    ...OF_AGENT,
    example: ['googlebot'],
    test(given, rule) {
      return (inspection) => {
        const { crawler } = inspection
        if (crawler === undefined || !given.includes(crawler.slug)) return false
        return crawler.outcome === 'verified' || mayRestOn(inspection, rule)
      }
    },
  }),
  crawlerOutcome: word('Outcome of crawler verification', anyWord(CRAWLER_OUTCOMES), {
    ...OF_AGENT,
    example: ['spoofed'],
    test: (given) => testValue(given, ({ crawler }) => crawler?.outcome),
  }),
  operator: word('Crawler operators from the catalogue', KNOWN_OPERATORS, {
    ...OF_AGENT,
    example: ['Google'],
    test(given, rule) {
      return (inspection) => {
        const { operator } = inspection.agent
        return operator !== undefined && given.includes(operator) && mayRestOn(inspection, rule)
      }
    },
  }),
  purpose: word('Crawler purpose; ai: any AI purpose', anyWord(PURPOSES), {
    ...OF_AGENT,
    example: ['training'],
    test(given, rule) {
      const purposes = new Set<string>(given)
      return (inspection) => {
        const { purpose = '', ai } = inspection.agent
        const isOne = purposes.has(purpose) || (ai !== undefined && purposes.has('ai'))
        return isOne && mayRestOn(inspection, rule)
      }
    },
  }),
}
