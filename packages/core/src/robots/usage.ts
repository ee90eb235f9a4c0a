import { type Catalogue, createCatalogue } from '../crawler/catalogue.ts'
import { createPathTable } from '../policy/paths/path-table.ts'
import { inspectionOfCrawler } from './hypothetical.ts'
import { robotsPathsOf } from './robots-paths.ts'
import { createRobotsRules, type RobotsPart } from './robots-rules.ts'
import { CONTENT_SIGNALS, type ContentSignals, isUseRefused, usageText } from './signals.ts'

export interface UsageOptions {
  /** One policy for the whole site, or one for each part. */
  readonly parts: readonly RobotsPart[]
  /** Wishes about the whole site. */
  readonly signals?: ContentSignals | undefined
  /** URL of the licence of all content (RSL 1.0). */
  readonly license?: string | undefined
  readonly catalogue?: Catalogue | undefined
}

/** Fields of an answer that say how its content may be used, by names in lower case. */
export interface UsageTable {
  fieldsOf(path: string): Readonly<Record<string, string>>
}

const EVERYTHING = '/**'

/**
 * `Content-Usage` (draft-ietf-aipref-attach) and `Link: <…>; rel="license"` (RSL 1.0) of answers, from the policy and the wishes that
 * robots.txt is made of: a use is denied where every crawler of that use is refused.
 */
export function usageOf({ parts, signals = {}, license, catalogue = createCatalogue() }: UsageOptions): UsageTable {
  const rules = createRobotsRules(parts)
  const crawlers = catalogue.crawlers.filter(({ silent }) => silent !== 'retired')
  const inspections = new Map(crawlers.map((crawler) => [crawler, inspectionOfCrawler(crawler, catalogue)]))
  const spoken = [EVERYTHING, ...rules.paths].filter((path) => samplePath(path) !== undefined)
  const patternOf = createPathTable(longestFirst([...new Set(spoken)]))
  const known = new Map<string, Readonly<Record<string, string>>>()

  function isRefusedAt(path: string) {
    return (crawler: (typeof crawlers)[number]): boolean => {
      const inspection = inspections.get(crawler)
      return inspection !== undefined && !rules.mayFetch(inspection, path)
    }
  }

  /** The fields at a path: a use that the policy refuses is denied, whatever is wished for the whole site. */
  function fieldsAt(path: string): Readonly<Record<string, string>> {
    const said = CONTENT_SIGNALS.map((signal) => {
      const isRefused = isUseRefused(signal, crawlers, isRefusedAt(path))
      return [signal, isRefused ? 'no' : signals[signal]] as const
    })
    const usage = usageText(Object.fromEntries(said))
    return Object.freeze({
      ...(usage !== '' && { 'content-usage': usage }),
      ...(license !== undefined && { link: licenseLink(license) }),
    })
  }

  return {
    fieldsOf(path) {
      const pattern = patternOf({ path }) ?? EVERYTHING
      const found = known.get(pattern) ?? fieldsAt(samplePath(pattern) as string)
      known.set(pattern, found)
      return found
    },
  }
}

function longestFirst(patterns: readonly string[]): readonly string[] {
  return patterns.toSorted((one, other) => other.length - one.length)
}

/** A path that a pattern is about, and no narrower one is. */
function samplePath(pattern: string): string | undefined {
  const found = robotsPathsOf(pattern)
  return (pattern.endsWith('/**') ? found?.at(-1) : found?.at(0))?.probe
}

function licenseLink(url: string): string {
  const type = url.endsWith('.xml') ? '; type="application/rsl+xml"' : ''
  return `<${url}>; rel="license"${type}`
}
