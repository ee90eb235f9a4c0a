import { CRAWLERS } from '@sallyport/data/crawlers'
import { CRAWLER_OUTCOMES, CRAWLER_PURPOSES, type CrawlerOutcome, type CrawlerPurpose } from '../vocabulary.ts'
import { wordFault } from './fault.ts'
import { mayRestOn, someOf, texts, valueIndex, type WordsOf } from './match-word.ts'

/** Conditions on crawlers: the claim of the user agent; operator and purpose also by signature. */
export interface CrawlerMatch {
  /** Slugs of the crawler catalogue. */
  readonly crawler?: readonly string[] | undefined
  readonly crawlerOutcome?: readonly CrawlerOutcome[] | undefined
  /** Operators of the crawler catalogue. */
  readonly operator?: readonly string[] | undefined
  readonly purpose?: readonly CrawlerPurpose[] | undefined
}

export const SLUGS: readonly string[] = CRAWLERS.map(({ slug }) => slug)
export const OPERATORS: readonly string[] = [...new Set(CRAWLERS.map(({ operator }) => operator))]

export const CRAWLER_WORDS: WordsOf<CrawlerMatch> = {
  crawler: {
    values: texts((slug) => wordFault(slug, SLUGS)),
    asks: 'agent',
    robots: true,
    stricter: true,
    index: valueIndex(({ crawler }) => crawler?.slug),
    description: 'Crawlers, by their slugs in the catalogue',
    example: ['googlebot'],
    test(given, { action }) {
      return ({ crawler }) => {
        if (crawler === undefined || !mayRestOn(crawler.outcome === 'verified', action)) return false
        return given.includes(crawler.slug)
      }
    },
  },
  crawlerOutcome: {
    values: someOf(CRAWLER_OUTCOMES),
    asks: 'agent',
    robots: true,
    index: valueIndex(({ crawler }) => crawler?.outcome),
    description: 'Outcome of the claim to be a crawler',
    example: ['spoofed'],
    test(given) {
      return ({ crawler }) => crawler !== undefined && given.includes(crawler.outcome)
    },
  },
  operator: {
    values: texts((operator) => wordFault(operator, OPERATORS)),
    asks: 'agent',
    robots: true,
    stricter: true,
    index: valueIndex(({ agent }) => agent.operator),
    description: 'Operators of crawlers, as in the catalogue',
    example: ['Google'],
    test(given, { action }) {
      return ({ agent }) => {
        if (agent.operator === undefined || !mayRestOn(agent.identity?.verified === true, action)) return false
        return given.includes(agent.operator)
      }
    },
  },
  purpose: {
    values: someOf(CRAWLER_PURPOSES),
    asks: 'agent',
    robots: true,
    stricter: true,
    index: valueIndex(({ agent }) => agent.purpose),
    description: 'Purpose of a crawler',
    example: ['training'],
    test(given, { action }) {
      const purposes = new Set<string>(given)
      return ({ agent }) => {
        if (agent.purpose === undefined || !mayRestOn(agent.identity?.verified === true, action)) return false
        return purposes.has(agent.purpose)
      }
    },
  },
}
