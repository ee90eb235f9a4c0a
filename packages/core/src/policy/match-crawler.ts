import { CRAWLERS } from '@sallyport/data/crawlers'
import { CRAWLER_OUTCOMES, CRAWLER_PURPOSES, type CrawlerOutcome, type CrawlerPurpose } from '../vocabulary.ts'
import { wordFault } from './fault.ts'
import { mayRestOn, someOf, texts, type WordsOf } from './match-word.ts'

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
    description: 'slugs of the catalogue of crawlers',
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
    description: 'what came of the claim to be a crawler',
    example: ['spoofed'],
    test(given) {
      return ({ crawler }) => crawler !== undefined && given.includes(crawler.outcome)
    },
  },
  operator: {
    values: texts((operator) => wordFault(operator, OPERATORS)),
    asks: 'agent',
    robots: true,
    description: 'operators of the catalogue of crawlers',
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
    description: 'what a crawler fetches pages for',
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
