import { isDeepStrictEqual } from 'node:util'
import type { Decision, ObservedRequest } from '@sallyport/core'
import type { Crawl, CrawlRow, Document, RecordedPreference } from '@sallyport/ledger'
import { type IdentifiedCrawler, isPageRead } from '#tally'
import type { Stated } from './preferences.ts'

/** Rows of one minute; further paths are one row, and further rows are left out and counted. */
const MAX_ROWS = 64
const MAX_ADDRESSES = 64
/** Receipts of one row; of further ones the row counts the requests. */
const MAX_RECEIPTS = 64
/** The path of a row that holds all others. */
const OTHERS = '/**'

type Row = { -readonly [Member in keyof CrawlRow]: CrawlRow[Member] }
type Alike = Omit<CrawlRow, 'path' | 'preference' | 'requests' | 'pages' | 'bytes' | 'receipts'>
type Counts = Pick<CrawlRow, 'requests' | 'pages' | 'bytes' | 'receipts'>

/** Collects what one operator reads within a minute. */
export type Minute = ReturnType<typeof beginMinute>

/** A minute that is over. */
export interface Ended {
  readonly crawl: Crawl
  readonly documents: readonly Document[]
  readonly addresses: readonly string[]
}

/** Counts the requests of a minute, with those that it leaves out. */
export function countRequests({ crawl: { rows, leftOut } }: Ended): number {
  return rows.reduce((sum, { requests }) => sum + requests, leftOut)
}

/** Begins a minute of an operator. */
export function beginMinute(operator: string) {
  const rows: Row[] = []
  const byPath = new Map<string, Row[]>()
  const preferences: RecordedPreference[] = []
  const documents = new Map<string, Document>()
  const addresses = new Set<string>()
  let [from, to, left] = [Number.POSITIVE_INFINITY, 0, 0]

  function findPlace(preference: RecordedPreference): number {
    const at = preferences.indexOf(preference)
    return at === -1 ? preferences.push(preference) - 1 : at
  }

  /** Adds requests to their row; false where the minute has no more room. */
  function addRow(path: string, alike: Alike, preference: RecordedPreference, counts: Counts): boolean {
    // A path has few rows: to compare them takes a tenth of the time of building a key.
    const isAlike = (row: Row): boolean =>
      row.action === alike.action &&
      row.enforced === alike.enforced &&
      row.robots === alike.robots &&
      row.crawler === alike.crawler &&
      row.purpose === alike.purpose &&
      row.proof === alike.proof &&
      row.price === alike.price &&
      row.licence === alike.licence &&
      preferences[row.preference] === preference
    const find = (path: string, bound: number): Row | undefined => {
      const known = byPath.get(path)
      const found = known?.find(isAlike)
      if (found !== undefined || rows.length >= bound) return found
      const row: Row = { ...alike, path, preference: findPlace(preference), requests: 0, pages: 0, bytes: 0 }
      rows.push(row)
      if (known === undefined) byPath.set(path, [row])
      else known.push(row)
      return row
    }
    const row = find(path, MAX_ROWS) ?? find(OTHERS, 2 * MAX_ROWS)
    if (row === undefined) {
      left += counts.requests
      return false
    }
    row.requests += counts.requests
    row.bytes += counts.bytes
    row.pages += counts.pages
    if (counts.receipts === undefined) return true
    const receipts = [...(row.receipts?.split(' ') ?? []), ...counts.receipts.split(' ')]
    row.receipts = receipts.slice(0, MAX_RECEIPTS).join(' ')
    return true
  }

  return {
    operator,
    /** Adds a request to the row of its path or pattern. */
    add(
      path: string,
      observed: ObservedRequest,
      { action, enforced }: Decision,
      { name: crawler, purpose, proof }: IdentifiedCrawler,
      { preference, document }: Stated,
      refused: boolean | undefined,
    ): void {
      from = Math.min(from, observed.at)
      to = Math.max(to, observed.at)
      if (proof !== 'claim' && proof !== 'disproved' && addresses.size < MAX_ADDRESSES) addresses.add(observed.client)
      const robots = refused === undefined ? 'unread' : refused ? 'disallowed' : 'allowed'
      const { offer: { price, licence } = {}, receipt: receipts } = observed.payment ?? {}
      const alike = { crawler, purpose, proof, robots, action, enforced, price, licence }
      const pages = isPageRead(observed) ? 1 : 0
      const counts = { requests: 1, pages, bytes: observed.bytesSent ?? 0, receipts }
      if (addRow(path, alike, preference, counts) && document !== undefined) documents.set(document.sha256, document)
    },
    /** Adds a minute of another process; `findPreference` returns what this process reads. */
    merge({ crawl, ...other }: Ended, findPreference: (host: string) => Stated): void {
      from = Math.min(from, crawl.from)
      to = Math.max(to, crawl.to)
      left += crawl.leftOut
      for (const document of other.documents) documents.set(document.sha256, document)
      for (const address of other.addresses) if (addresses.size < MAX_ADDRESSES) addresses.add(address)
      // Requests of this process find their row by the object of their preference.
      const known = crawl.preferences.map((same) => {
        const all = [findPreference(same.host).preference, ...preferences]
        return all.find((one) => isDeepStrictEqual(one, same)) ?? same
      })
      for (const { path, preference, requests, pages, bytes, receipts, ...alike } of crawl.rows) {
        const named = known[preference]
        if (named !== undefined) addRow(path, alike, named, { requests, pages, bytes, receipts })
      }
    },
    /** The record, the documents that it names, and the addresses of proven crawlers. */
    end: (leftOut: number): Ended => ({
      crawl: { operator, from, to, leftOut: leftOut + left, preferences, rows },
      documents: [...documents.values()],
      addresses: [...addresses].sort(),
    }),
  }
}
