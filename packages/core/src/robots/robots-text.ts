import { type Catalogue, type Crawler, createCatalogue } from '../crawler/catalogue.ts'
import { inspectionOfCrawler } from './hypothetical.ts'
import { robotsPathsOf } from './robots-paths.ts'
import { createRobotsRules, type RobotsPart, type RobotsRule } from './robots-rules.ts'
import { type ContentSignals, signalLines, signalsOf } from './signals.ts'

export interface RobotsOptions {
  /** One policy for the whole site, or one for each part. */
  readonly parts: readonly RobotsPart[]
  readonly signals?: ContentSignals | undefined
  /** URL of the licence of all content (RSL 1.0). */
  readonly license?: string | undefined
  /** Paths that exist nowhere: every crawler is asked to stay away from them, in monitor mode too. */
  readonly decoys?: readonly string[] | undefined
  /** URLs. */
  readonly sitemaps?: readonly string[] | undefined
  readonly catalogue?: Catalogue | undefined
}

/** A robots.txt, and what it could not say. */
export interface Robots {
  readonly text: string
  /** Ids of rules that refuse some requests of crawlers by more than robots.txt has words for. Not for the public. */
  readonly unspoken: readonly string[]
}

/**
 * The robots.txt of a policy (RFC 9309): a crawler of the catalogue is asked to stay away from what it would be refused,
 * and `*` stands for those that no catalogue has. Where a site's own wishes about the use of content are said or follow
 * from the policy, `Content-Signal` and `Content-Usage` say them. Throws `invalid_config` for a signal that contradicts it.
 */
export function robotsOf({
  parts,
  signals = {},
  license,
  decoys = [],
  sitemaps = [],
  catalogue = createCatalogue(),
}: RobotsOptions): Robots {
  const rules = createRobotsRules(parts)
  const never = decoys.flatMap((path) => robotsPathsOf(path) ?? []).map(({ pattern }) => ({ allow: false, pattern }))
  const linesOf = (of: readonly RobotsRule[]) => groupLines(isShut(of) ? of : [...of, ...never], said)
  // A token that controls a use and sends no requests is for robots.txt alone; a retired one is for nothing.
  const crawlers = catalogue.crawlers.filter(({ silent }) => silent !== 'retired')
  const found = new Map(crawlers.map((crawler) => [crawler, rules.of(inspectionOfCrawler(crawler, catalogue))]))
  const others = rules.of(inspectionOfCrawler(undefined, catalogue))
  const said = signalLines(signalsOf(signals, crawlers, (crawler) => isShut(found.get(crawler) ?? [])))

  const tokens = tokensOf(crawlers)
  const keys = tokens.map(([token]) => token.toLowerCase())
  const groups = new Map<string, string[]>()
  const general = linesOf(others)
  for (const [token, crawler] of tokens) {
    const lines = linesOf(found.get(crawler) ?? [])
    // A crawler without a group of its own follows that of a name its own begins with, else `*`.
    const key = token.toLowerCase()
    const nearby = lines === general ? keys.findIndex((other) => other !== key && key.startsWith(other)) : -1
    if (lines === general && (nearby < 0 || linesOf(found.get(tokens[nearby]?.[1] as Crawler) ?? []) === general))
      continue
    groups.set(lines, [...(groups.get(lines) ?? []), token])
  }
  const blocks = [
    '# Made from the policy of this site: what is disallowed here is refused.',
    ...[...groups].map(([lines, names]) => `${names.map((name) => `User-agent: ${name}\n`).join('')}${lines}`),
    `User-agent: *\n${general}`,
    ...(license === undefined ? [] : [`License: ${license}`]),
    ...(sitemaps.length > 0 ? [sitemaps.map((url) => `Sitemap: ${url}`).join('\n')] : []),
  ]
  return { text: `${blocks.join('\n\n')}\n`, unspoken: rules.unspoken }
}

function isShut(rules: readonly RobotsRule[]): boolean {
  return rules.length === 1 && rules[0]?.pattern === '/' && !rules[0].allow
}

function groupLines(rules: readonly RobotsRule[], said: readonly string[]): string {
  const lines = rules.map(({ allow, pattern }) => `${allow ? 'Allow' : 'Disallow'}: ${pattern}`)
  // Signals say nothing of content that may not be fetched.
  if (isShut(rules)) return lines.join('\n')
  return [...said, ...(lines.length === 0 ? ['Allow: /'] : lines)].join('\n')
}

/**
 * The names by which crawlers look for their groups, each once: what stands before a version in their user agents. A name
 * that is wholly one crawler's belongs to that one, also where another's begins with it.
 */
function tokensOf(crawlers: readonly Crawler[]): readonly (readonly [string, Crawler])[] {
  const named = crawlers.flatMap((crawler) => crawler.tokens.map((token) => [token, crawler] as const))
  const whole = new Map(named.map(([token, crawler]) => [token.toLowerCase(), crawler]))
  const found = new Map<string, readonly [string, Crawler]>()
  for (const [written, crawler] of named) {
    const token = written.split('/', 1)[0] as string
    const key = token.toLowerCase()
    if (token === '' || token.includes(',') || (whole.get(key) ?? crawler) !== crawler || found.has(key)) continue
    found.set(key, [token, crawler])
  }
  return [...found.values()]
}
