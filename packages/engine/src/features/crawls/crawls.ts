import type { Observe } from '@sallyport/core'
import type { Provenance } from '#attestation'
import type { FeatureConfig } from '#service'
import { type AskRobots, identifyCrawler, pathPattern } from '#tally'
import type { keys } from './keys.ts'
import { beginMinute, type Ended, type Minute } from './minute.ts'
import { createPreferences } from './preferences.ts'

/** Records what crawlers read, and writes it to the ledger behind requests. */
export interface Crawls {
  readonly observe: Observe
  /** Writes the minutes that are over, or all of them. Never rejects. */
  write(all?: boolean): Promise<void>
  close(): Promise<void>
}

export interface CrawlPorts {
  readonly provenance: Pick<Provenance, 'recordCrawl'>
  readonly robots: AskRobots
  /** The robots.txt that a host shows; `undefined` where none was read. */
  readonly robotsText: (host: string) => string | undefined
  /** A duration that never goes back, in milliseconds. */
  readonly elapsed: () => number
  /** Learns of the outcome of a record: `recorded`, `retried` while the ledger was away, or `lost`. */
  readonly onRecord: (outcome: 'recorded' | 'retried' | 'lost') => void
}

const MINUTE_MS = 60_000
const LOOK_MS = 5_000
/** Records that wait while the ledger is away; the oldest is lost, and the next one of its operator says how many requests it had. */
const MAX_WAITING = 1_440

const MAX_PATH = 200
/** Patterns that are remembered: to find one takes longer than all else of a record. */
const MAX_PATTERNS = 4_096

/** Gives the path of a row for the path of a request. */
function createPaths(form: 'pattern' | 'path'): (path: string) => string {
  const known = new Map<string, string>()
  return (path) => {
    if (form === 'path') return path.slice(0, MAX_PATH)
    const found = known.get(path)
    if (found !== undefined) return found
    const pattern = pathPattern(path).slice(0, MAX_PATH)
    if (known.size >= MAX_PATTERNS) known.clear()
    if (path.length <= MAX_PATH) known.set(path, pattern)
    return pattern
  }
}

/** Opens the records of crawling; nothing where they are off. */
export function openCrawls(
  { crawls: form }: FeatureConfig<typeof keys>,
  { provenance, robots, robotsText, elapsed, onRecord }: CrawlPorts,
): Crawls | undefined {
  if (form === false) return undefined
  const pathOf = createPaths(form)
  const preferenceOf = createPreferences(robotsText)
  const open = new Map<string, { readonly minute: Minute; readonly at: number; readonly since: number }>()
  const leftOut = new Map<string, number>()
  const waiting: Ended[] = []
  let writing: Promise<void> | undefined

  function end(minute: Minute): void {
    open.delete(minute.operator)
    const ended = minute.end(leftOut.get(minute.operator) ?? 0)
    leftOut.delete(minute.operator)
    waiting.push(ended)
    if (waiting.length <= MAX_WAITING) return
    const [lost] = waiting.splice(0, 1) as [Ended]
    const { operator } = lost.crawl
    leftOut.set(operator, (leftOut.get(operator) ?? 0) + lost.requests + lost.crawl.leftOut)
    onRecord('lost')
  }

  async function writeWaiting(): Promise<void> {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      try {
        await provenance.recordCrawl(next.crawl, next.documents, next.addresses)
      } catch {
        // The ledger has said why, to the operator as well.
        onRecord('retried')
        return
      }
      if (waiting[0] === next) waiting.shift()
      onRecord('recorded')
    }
  }

  const crawls: Crawls = {
    observe(observed) {
      const { decision, answeredBy } = observed
      if (decision === undefined || answeredBy === 'check' || answeredBy === 'event') return
      const crawler = identifyCrawler(decision)
      if (crawler === undefined) return
      const at = Math.floor(observed.at / MINUTE_MS)
      let entry = open.get(crawler.operator)
      // A clock that was set back adds to the minute that is open.
      if (entry !== undefined && at > entry.at) {
        end(entry.minute)
        entry = undefined
      }
      if (entry === undefined) {
        entry = { minute: beginMinute(crawler.operator), at, since: elapsed() }
        open.set(crawler.operator, entry)
      }
      const refused = robots(observed.userAgent ?? '', observed.path, observed.host)
      entry.minute.add(pathOf(observed.path), observed, decision, crawler, preferenceOf(observed.host), refused)
    },
    async write(all = false) {
      for (const { minute, since } of [...open.values()]) if (all || elapsed() - since >= MINUTE_MS) end(minute)
      writing ??= writeWaiting().finally(() => {
        writing = undefined
      })
      await writing
    },
    async close() {
      clearInterval(timer)
      await writing
      await crawls.write(true)
    },
  }
  const timer = setInterval(() => void crawls.write(), LOOK_MS).unref()
  return crawls
}
