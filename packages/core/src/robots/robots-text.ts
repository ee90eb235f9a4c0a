import { type Catalogue, type Crawler, createCatalogue } from '../crawler/catalogue.ts'
import { inspectCrawler } from './hypothetical.ts'
import type { PathRule } from './path-rules.ts'
import { listRobotsPaths } from './robots-paths.ts'
import { createRobotsRules, type RobotsPart } from './robots-rules.ts'
import { signalLines } from './signals.ts'

export interface RobotsOptions {
  /** The whole site has one policy, or each part has its own. */
  readonly parts: readonly RobotsPart[]
  /** These paths exist nowhere: every crawler is asked to stay away from them, in monitor mode too. */
  readonly decoys?: readonly string[] | undefined
  readonly sitemaps?: readonly string[] | undefined
  readonly catalogue?: Catalogue | undefined
}

/** Holds a robots.txt, and the rules that it could not express. */
export interface Robots {
  readonly text: string
  /** Ids of rules that refuse some requests of crawlers by more than robots.txt can express. Not for the public. */
  readonly unspoken: readonly string[]
}

/**
 * Writes the robots.txt of a policy (RFC 9309): it asks a crawler of the catalogue to stay away from paths that the policy refuses, and `*`
 * covers crawlers that no catalogue lists. `Content-Signal` and `Content-Usage` deny the uses that the policy refuses.
 */
export function writeRobots({
  parts,
  decoys = [],
  sitemaps = [],
  catalogue = createCatalogue(),
}: RobotsOptions): Robots {
  const rules = createRobotsRules(parts)
  const never = decoys.flatMap((path) => listRobotsPaths(path) ?? []).map(({ pattern }) => ({ allow: false, pattern }))
  const writeLines = (of: readonly PathRule[]) => groupLines(isShut(of) ? of : [...of, ...never], signals)
  // A token that controls a use and sends no requests exists for robots.txt alone; a retired one has no use.
  const crawlers = catalogue.crawlers.filter(({ silent }) => silent !== 'retired')
  const found = new Map(crawlers.map((crawler) => [crawler, rules.of(inspectCrawler(crawler, catalogue))]))
  const others = rules.of(inspectCrawler(undefined, catalogue))
  const signals = signalLines(crawlers, (crawler) => isShut(found.get(crawler) ?? []))

  const tokens = listTokens(crawlers)
  const keys = tokens.map(([token]) => token.toLowerCase())
  const groups = new Map<string, string[]>()
  const general = writeLines(others)
  for (const [token, crawler] of tokens) {
    const lines = writeLines(found.get(crawler) ?? [])
    // A crawler without a group of its own follows the group whose name begins its own, else `*`.
    const key = token.toLowerCase()
    const nearby = lines === general ? keys.findIndex((other) => other !== key && key.startsWith(other)) : -1
    if (lines === general && (nearby < 0 || writeLines(found.get(tokens[nearby]?.[1] as Crawler) ?? []) === general))
      continue
    groups.set(lines, [...(groups.get(lines) ?? []), token])
  }
  const blocks = [
    '# Made from the policy of this site: what is disallowed here is refused.',
    ...[...groups].map(([lines, names]) => `${names.map((name) => `User-agent: ${name}\n`).join('')}${lines}`),
    `User-agent: *\n${general}`,
    ...(sitemaps.length > 0 ? [sitemaps.map((url) => `Sitemap: ${url}`).join('\n')] : []),
  ]
  return { text: `${blocks.join('\n\n')}\n`, unspoken: rules.unspoken }
}

function isShut(rules: readonly PathRule[]): boolean {
  return rules.length === 1 && rules[0]?.pattern === '/' && !rules[0].allow
}

function groupLines(rules: readonly PathRule[], said: readonly string[]): string {
  const lines = rules.map(({ allow, pattern }) => `${allow ? 'Allow' : 'Disallow'}: ${pattern}`)
  // Signals say nothing about content that may not be fetched.
  if (isShut(rules)) return lines.join('\n')
  return [...said, ...(lines.length === 0 ? ['Allow: /'] : lines)].join('\n')
}

/**
 * Lists the names by which crawlers look for their groups, each once: the text before a version in their user agents. A name that is wholly
 * one crawler's belongs to that crawler, also where another's begins with it.
 */
function listTokens(crawlers: readonly Crawler[]): readonly (readonly [string, Crawler])[] {
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
