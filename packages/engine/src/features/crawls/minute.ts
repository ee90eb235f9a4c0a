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

/** Collects what one operator reads within a minute. */
export interface Minute {
  readonly operator: string
  /** Adds a request to the row of its path or pattern. */
  add(
    path: string,
    observed: ObservedRequest,
    decision: Decision,
    crawler: IdentifiedCrawler,
    stated: Stated,
    refused: boolean | undefined,
  ): void
  /** The record, the documents that it names, and the addresses of proven crawlers. */
  end(leftOut: number): Ended
}

/** A minute that is over. */
export interface Ended {
  readonly crawl: Crawl
  readonly documents: readonly Document[]
  readonly addresses: readonly string[]
  readonly requests: number
}

/** Begins a minute of an operator. */
export function beginMinute(operator: string): Minute {
  const rows: Row[] = []
  const byPath = new Map<string, Row[]>()
  const preferences: RecordedPreference[] = []
  const documents = new Map<string, Document>()
  const addresses = new Set<string>()
  let [from, to, left, requests] = [Number.POSITIVE_INFINITY, 0, 0, 0]

  function findPlace({ preference, document }: Stated): number {
    const at = preferences.indexOf(preference)
    if (document !== undefined) documents.set(document.sha256, document)
    return at === -1 ? preferences.push(preference) - 1 : at
  }

  return {
    operator,
    add(path, observed, { action, enforced }, { name: crawler, purpose, proof }, stated, refused) {
      from = Math.min(from, observed.at)
      to = Math.max(to, observed.at)
      requests++
      if (proof !== 'claim' && proof !== 'disproved' && addresses.size < MAX_ADDRESSES) addresses.add(observed.client)
      const robots = refused === undefined ? 'unread' : refused ? 'disallowed' : 'allowed'
      const { offer: { price, licence } = {}, receipt } = observed.payment ?? {}
      // A path has few rows: to compare them takes a tenth of the time of building a key.
      const isAlike = (row: Row): boolean =>
        row.action === action &&
        row.enforced === enforced &&
        row.robots === robots &&
        row.crawler === crawler &&
        row.purpose === purpose &&
        row.proof === proof &&
        row.price === price &&
        row.licence === licence &&
        preferences[row.preference] === stated.preference
      const find = (path: string, bound: number): Row | undefined => {
        const known = byPath.get(path)
        const found = known?.find(isAlike)
        if (found !== undefined || rows.length >= bound) return found
        const same = { crawler, purpose, proof, path, preference: findPlace(stated), robots, action, enforced }
        const offered = { ...(price !== undefined && { price }), ...(licence !== undefined && { licence }) }
        const row: Row = { ...same, ...offered, requests: 0, pages: 0, bytes: 0 }
        rows.push(row)
        if (known === undefined) byPath.set(path, [row])
        else known.push(row)
        return row
      }
      const row = find(path, MAX_ROWS) ?? find(OTHERS, 2 * MAX_ROWS)
      if (row === undefined) {
        left++
        return
      }
      row.requests++
      row.bytes += observed.bytesSent ?? 0
      if (isPageRead(observed)) row.pages++
      if (receipt === undefined) return
      const receipts = row.receipts?.split(' ') ?? []
      if (receipts.length < MAX_RECEIPTS) row.receipts = [...receipts, receipt].join(' ')
    },
    end: (leftOut) => ({
      crawl: { operator, from, to, leftOut: leftOut + left, preferences, rows },
      documents: [...documents.values()],
      addresses: [...addresses].sort(),
      requests,
    }),
  }
}
