import type { ObservedRequest } from '@sallyport/core'
import { LRUCache } from 'lru-cache'
import type { Provenance } from '#attestation'
import type { FeatureConfig } from '#service'
import { type AskRobots, identifyCrawler, pathPattern } from '#tally'
import type { keys } from './keys.ts'
import { beginMinute, countRequests, type Ended, type Minute } from './minute.ts'
import { createPreferences } from './preferences.ts'

/** Records what crawlers read, and writes it to the ledger behind requests. */
export type Crawls = NonNullable<ReturnType<typeof openCrawls>>

/** Hands a minute to the process that writes for all: true if it took the minute, false if none did, `undefined` if that is unknown. */
export type HandMinute = (minute: Ended) => Promise<boolean | undefined>

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

function createPaths(form: 'pattern' | 'path'): (path: string) => string {
  if (form === 'path') return (path) => path.slice(0, MAX_PATH)
  const findPattern = (path: string) => pathPattern(path).slice(0, MAX_PATH)
  const known = new LRUCache<string, string>({ max: MAX_PATTERNS, memoMethod: findPattern })
  return (path) => (path.length > MAX_PATH ? findPattern(path) : known.memo(path))
}

/** Opens the records of crawling; nothing where they are off. */
export function openCrawls(
  { crawls: form }: FeatureConfig<typeof keys>,
  { provenance, robots, robotsText, elapsed, onRecord }: CrawlPorts,
) {
  if (form === false) return undefined
  const shortenPath = createPaths(form)
  const findPreference = createPreferences(robotsText)
  const open = new Map<string, { readonly minute: Minute; readonly at: number; readonly since: number }>()
  const leftOut = new Map<string, number>()
  const waiting: Ended[] = []
  let writing: Promise<void> | undefined
  let hand: HandMinute | undefined
  let isClosed = false

  function begin(operator: string, at: number) {
    const entry = { minute: beginMinute(operator), at, since: elapsed() }
    open.set(operator, entry)
    return entry
  }

  function lose(lost: Ended): void {
    const { operator } = lost.crawl
    leftOut.set(operator, (leftOut.get(operator) ?? 0) + countRequests(lost))
    onRecord('lost')
  }

  function end(minute: Minute): void {
    open.delete(minute.operator)
    const ended = minute.end(leftOut.get(minute.operator) ?? 0)
    leftOut.delete(minute.operator)
    waiting.push(ended)
    if (waiting.length > MAX_WAITING) lose(waiting.shift() as Ended)
  }

  async function writeWaiting(): Promise<void> {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const isTaken = hand === undefined ? false : await hand(next)
      try {
        if (isTaken === false) await provenance.recordCrawl(next.crawl, next.documents, next.addresses)
      } catch {
        // The ledger has said why, to the operator as well.
        onRecord('retried')
        return
      }
      if (waiting[0] === next) waiting.shift()
      if (isTaken === false) onRecord('recorded')
      // To hand it again could count its requests twice.
      if (isTaken === undefined) lose(next)
    }
  }

  const crawls = {
    observe(observed: ObservedRequest): void {
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
      entry ??= begin(crawler.operator, at)
      const refused = robots(observed.userAgent ?? '', observed.path, observed.host)
      entry.minute.add(shortenPath(observed.path), observed, decision, crawler, findPreference(observed.host), refused)
    },
    /** Gives every minute that is over to `hand`, until this process closes. */
    share(by: HandMinute): void {
      hand = by
    },
    /** Adds a minute of another process to that of this process; false once this process closes. */
    take(ended: Ended): boolean {
      if (isClosed) return false
      const { operator } = ended.crawl
      // A minute that another process began lasts as long as any: no request ends it early.
      const { minute } = open.get(operator) ?? begin(operator, Number.POSITIVE_INFINITY)
      minute.merge(ended, findPreference)
      return true
    },
    /** Writes the minutes that are over, or all of them. Never rejects. */
    async write(all: boolean = false): Promise<void> {
      for (const { minute, since } of [...open.values()]) if (all || elapsed() - since >= MINUTE_MS) end(minute)
      writing ??= writeWaiting().finally(() => {
        writing = undefined
      })
      await writing
    },
    async close(): Promise<void> {
      hand = undefined
      isClosed = true
      clearInterval(timer)
      await writing
      await crawls.write(true)
    },
  }
  const timer = setInterval(() => void crawls.write(), LOOK_MS).unref()
  return crawls
}
