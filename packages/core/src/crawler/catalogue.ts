import { CRAWLERS, type CrawlerRow } from '@sallyport/data/crawlers'
import { applicationForm } from './application.ts'
import { type NamePattern, parseNamePattern } from './name-pattern.ts'
import { createTokenMatcher } from './token-matcher.ts'

/** Holds a crawler of the catalogue, ready for checks. */
export interface Crawler
  extends Pick<
    CrawlerRow,
    'slug' | 'name' | 'operator' | 'purpose' | 'tokens' | 'application' | 'ranges' | 'agent' | 'docs'
  > {
  /** Says why a request with one of its tokens is not from this crawler; absent for a crawler that sends requests. */
  readonly silent?: CrawlerRow['status']
  readonly names: readonly NamePattern[]
  /** False where no document of the operator promises these names: they may confirm, never refute. */
  readonly namesRefute: boolean
  /** True where the operator's customers run it too, on their own machines: no address refutes it. */
  readonly selfHosted: boolean
  readonly asns: ReadonlySet<number>
  /** True where only the operator uses `asns`. */
  readonly exclusive: boolean
  /** Lists every system that the operator sends the crawler from, shared or not; empty where that is not known. */
  readonly systems: ReadonlySet<number>
}

export type Catalogue = ReturnType<typeof createCatalogue>

/** Compiles the catalogue, by default `data/crawlers.json`; throws `TypeError` where a row is not usable. */
export function createCatalogue(rows: readonly CrawlerRow[] = CRAWLERS) {
  const crawlers = rows.map(buildCrawler)
  const bySlug = new Map(crawlers.map((crawler) => [crawler.slug, crawler]))
  if (bySlug.size !== crawlers.length) throw new TypeError('a slug is there twice')
  const tokens = crawlers.flatMap((crawler) =>
    // QuillBot is an application for people, and its crawler has no other name.
    crawler.tokens.map((token) => ({
      token,
      crawler,
      isProgram: !crawler.tokens.every(isProgramName) && isProgramName(token),
    })),
  )
  const matcher = createTokenMatcher(tokens.map(({ token }) => token))
  return {
    crawlers,
    find: (slug: string) => bySlug.get(slug),
    /**
     * Returns the crawler that a user agent names: the first one, and of two names that begin together the longer. `like Googlebot`, as
     * feed readers and old fetchers write it, is a comparison and claims nothing; nor does the name of an application in its own user agent.
     */
    findClaim(userAgent: string): Crawler | undefined {
      for (let match = matcher.find(userAgent); match !== undefined; match = matcher.find(userAgent, match.end)) {
        const { crawler, isProgram } = tokens[match.token] as (typeof tokens)[number]
        const isApplication = !isProgram && isApplicationAgent(crawler, userAgent)
        if (!isApplication && !isComparison(userAgent, match.start)) return crawler
      }
      return undefined
    },
  }
}

/** No application has a name like `NaverBot`, whatever other names the row has. */
function isProgramName(token: string): boolean {
  return /(?:bot|spider|crawler|user)$/i.test(token)
}

function isApplicationAgent({ application }: Crawler, userAgent: string): boolean {
  if (application === undefined) return false
  const form = applicationForm(userAgent)
  return form === 'native' || (form === 'electron' && application === true)
}

/** A word in front of a name makes it a comparison: "treat like Googlebot", "compatible with Googlebot". */
const COMPARISONS: ReadonlySet<string> = new Set(['like', 'with', 'following', 'fake', 'not'])
const MAX_COMPARISON_LENGTH = 9

/** Reports whether the word before a position, one separator between them, is a comparison. */
function isComparison(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - MAX_COMPARISON_LENGTH - 2), start - 1).toLowerCase()
  const words = before.split(/[^a-z]/)
  return COMPARISONS.has(words.at(-1) ?? '')
}

function buildCrawler(row: CrawlerRow): Crawler {
  const { slug, name, operator, purpose, tokens, status, ranges, agent, docs, application } = row
  return Object.freeze({
    slug,
    name,
    operator,
    purpose,
    tokens,
    silent: status,
    names: (row.names ?? []).map(parseNamePattern),
    namesRefute: row.undocumented !== true,
    application,
    selfHosted: row.selfHosted === true,
    ranges,
    asns: new Set(row.asns),
    exclusive: row.exclusive === true,
    systems: new Set(row.systems ?? (row.exclusive === true ? row.asns : [])),
    agent,
    docs,
  })
}
