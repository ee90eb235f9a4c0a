import { CRAWLERS, type CrawlerRow } from '@sallyport/data/crawlers'
import { applicationForm } from './application.ts'
import { type NamePattern, parseNamePattern } from './name-pattern.ts'
import { createTokenMatcher } from './token-matcher.ts'

/** A crawler of the catalogue, ready for checks. */
export interface Crawler {
  readonly slug: string
  readonly name: string
  readonly operator: string
  readonly purpose: CrawlerRow['purpose']
  readonly tokens: readonly string[]
  /** Why a request that shows one of its tokens is no such crawler; absent for one that sends requests. */
  readonly silent?: 'token-only' | 'retired' | undefined
  readonly names: readonly NamePattern[]
  /** False where no document of the operator promises these names: they may confirm, never refute. */
  readonly namesRefute: boolean
  /** The form in which people have an application of this name, whose own user agent claims nothing. */
  readonly application?: CrawlerRow['application'] | undefined
  /** Whether the operator's customers run it too, on machines of their own: no address refutes it. */
  readonly selfHosted: boolean
  /** Id of its list of published ranges; absent when the operator publishes none. */
  readonly ranges?: string | undefined
  readonly asns: ReadonlySet<number>
  /** Whether the operator alone uses all of `asns`. */
  readonly exclusive: boolean
  /** Every system that the operator sends the crawler from, others' requests among them or not; empty where it is not known. */
  readonly systems: ReadonlySet<number>
  /** Origin of its Web Bot Auth key directory. */
  readonly agent?: string | undefined
  readonly docs?: string | undefined
}

export interface Catalogue {
  readonly crawlers: readonly Crawler[]
  find(slug: string): Crawler | undefined
  /**
   * The crawler that a user agent says it is: the first one it names, and of two names that begin together the longer.
   * `like Googlebot`, as feed readers and old fetchers write it, is a comparison and claims nothing; nor does the name of an
   * application in its own user agent.
   */
  claimOf(userAgent: string): Crawler | undefined
}

/** Compiles the catalogue, by default `data/crawlers.json`; throws `TypeError` where a row is not usable. */
export function createCatalogue(rows: readonly CrawlerRow[] = CRAWLERS): Catalogue {
  const crawlers = rows.map(crawlerOf)
  const bySlug = new Map(crawlers.map((crawler) => [crawler.slug, crawler]))
  if (bySlug.size !== crawlers.length) throw new TypeError('a slug is there twice')
  const tokens = crawlers.flatMap((crawler) =>
    crawler.tokens.map((token) => ({ token, crawler, isProgram: isProgramName(token) })),
  )
  const matcher = createTokenMatcher(tokens.map(({ token }) => token))
  return {
    crawlers,
    find: (slug) => bySlug.get(slug),
    claimOf(userAgent) {
      for (let match = matcher.find(userAgent); match !== undefined; match = matcher.find(userAgent, match.end)) {
        const { crawler, isProgram } = tokens[match.token] as (typeof tokens)[number]
        const isApplication = !isProgram && isApplicationOf(crawler, userAgent)
        if (!isApplication && !isComparison(userAgent, match.start)) return crawler
      }
      return undefined
    },
  }
}

/** `NaverBot`: no application is named so, whatever else the row has. */
function isProgramName(token: string): boolean {
  return /(?:bot|spider|crawler|user)$/i.test(token)
}

function isApplicationOf({ application }: Crawler, userAgent: string): boolean {
  if (application === undefined) return false
  const form = applicationForm(userAgent)
  return form === 'native' || (form === 'electron' && application === true)
}

/** Words in front of a name that make it another's: "treat like Googlebot", "compatible with Googlebot". */
const COMPARISONS: ReadonlySet<string> = new Set(['like', 'with', 'following', 'fake', 'not'])
const MAX_COMPARISON_LENGTH = 9

/** Whether the word before a position, one separator between them, is a comparison. */
function isComparison(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - MAX_COMPARISON_LENGTH - 2), start - 1).toLowerCase()
  const words = before.split(/[^a-z]/)
  return COMPARISONS.has(words.at(-1) ?? '')
}

function crawlerOf(row: CrawlerRow): Crawler {
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
