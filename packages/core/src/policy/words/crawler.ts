import { CRAWLERS } from '@sallyport/data/crawlers'
import { CRAWLER_OUTCOMES, CRAWLER_PURPOSES, type CrawlerOutcome, type CrawlerPurpose } from '../../vocabulary.ts'
import { wordFault } from '../language/fault.ts'
import { someOf, texts } from '../language/values.ts'
import { mayRestOn, type WordsOf } from './match-word.ts'

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
    description: 'Crawlers, by their slugs in the catalogue',
    example: ['googlebot'],
    test(given, rule) {
      return (inspection) => {
        const { crawler } = inspection
        if (crawler === undefined || !given.includes(crawler.slug)) return false
        return crawler.outcome === 'verified' || mayRestOn(inspection, rule)
      }
    },
  },
  crawlerOutcome: {
    values: someOf(CRAWLER_OUTCOMES),
    asks: 'agent',
    robots: true,
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
    description: 'Operators of crawlers, as in the catalogue',
    example: ['Google'],
    test(given, rule) {
      return (inspection) => {
        const { operator } = inspection.agent
        return operator !== undefined && given.includes(operator) && mayRestOn(inspection, rule)
      }
    },
  },
  purpose: {
    values: someOf(CRAWLER_PURPOSES),
    asks: 'agent',
    robots: true,
    description: 'Purpose of a crawler',
    example: ['training'],
    test(given, rule) {
      const purposes = new Set<string>(given)
      return (inspection) => {
        const { purpose } = inspection.agent
        return purpose !== undefined && purposes.has(purpose) && mayRestOn(inspection, rule)
      }
    },
  },
}
