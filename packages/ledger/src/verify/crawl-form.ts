import { parseAnchors, parseDocument, parseSpan, readCheckpoint, requireStatements } from './evidence-form.ts'
import { parseOwnKeys } from './keys.ts'
import { HEX_HASH, parseRecord } from './record.ts'
import { Members, ShapeError } from './shape.ts'
import { CRAWL_STATEMENTS } from './statements.ts'

/**
 * Names the form of evidence about crawling, with its version.
 *
 * @example
 * ```ts
 * import { CRAWLS_TYPE } from '@sallyport/ledger/verify'
 *
 * console.log(CRAWLS_TYPE)
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/evidence.md#records-of-crawling
 */
export const CRAWLS_TYPE = 'application/vnd.sallyport.crawls+json;version=1' as const

/** Bounds the records of one file: a month of minutes of four processes is 178,560. */
export const MAX_CRAWLS = 200_000

/** Says what a site asked of crawlers. */
export interface RecordedPreference {
  readonly host: string
  /** SHA-256 of the robots.txt that it showed; absent where none was read. */
  readonly robotsSha256?: string | undefined
  /** Holds the values of Content-Usage in that file, with commas. */
  readonly contentUsage?: string | undefined
  /** Holds the URL of the licence (RSL) that the file offered. */
  readonly licence?: string | undefined
}

/** Requests of one crawler for one path or pattern that came out alike. */
export interface RecordedRow {
  readonly crawler: string
  readonly purpose: string
  readonly proof: string
  readonly path: string
  readonly preference: RecordedPreference
  /** Says whether robots.txt refuses the path: allowed, disallowed or unread. */
  readonly robots: string
  readonly action: string
  readonly enforced: boolean
  /** Holds the price and the licence that were offered; absent where none were. */
  readonly price?: string | undefined
  readonly licence?: string | undefined
  /** Names the accepted payments; of many requests the first ones of each minute. */
  readonly receipts?: readonly string[] | undefined
  /** Counts requests. */
  readonly requests: number
  /** Counts answers that were pages. */
  readonly pages: number
  /** Counts bytes of answers. */
  readonly bytes: number
}

/** A record of crawling as it is recorded. */
export type CrawlRecord = ReturnType<typeof parseCrawl>

/** Evidence about crawling as read: well formed, and nothing of it checked against anything yet. */
export type Crawls = ReturnType<typeof parseCrawls>

/** Reads evidence about crawling. Throws ShapeError that names the member for whatever is not of the form of this version. */
export function parseCrawls(value: unknown) {
  const file = new Members(value, '')
  if (file.text('media_type') !== CRAWLS_TYPE) throw new ShapeError('media_type: not a version that is known')
  const texts = file.list('records')
  if (texts.length < 1 || texts.length > MAX_CRAWLS) throw new ShapeError('records: none, or too many')
  const origin = file.text('origin')
  const statements = file.object('statements')
  const parsed = file.complete({
    createdAt: file.moment('created_at'),
    origin,
    log: file.text('log'),
    query: parseSpan(file.object('query')),
    records: texts.map((text, at) => {
      if (typeof text !== 'string') throw new ShapeError(`records.${at}: not a text`)
      return text
    }),
    ...parseTree(file.object('tree')),
    addresses: file.objects('addresses').map(parseAddresses),
    checkpoint: readCheckpoint(file),
    ...(file.has('anchors') ? { anchors: parseAnchors(file) } : {}),
    ...(file.has('unanchored') ? { unanchored: file.text('unanchored') } : {}),
    keys: parseOwnKeys(file.object('keys'), origin),
    documents: file.objects('documents').map(parseDocument),
  })
  requireStatements(statements, CRAWL_STATEMENTS)
  return parsed
}

function parseTree(tree: Members) {
  return tree.complete({ before: tree.bytesList('before', 32), after: tree.bytesList('after', 32) })
}

function parseAddresses(entry: Members) {
  const [seq, addresses] = [entry.integer('seq'), entry.text('addresses')]
  return entry.complete({ seq, addresses, salt: entry.bytes('salt', 32) })
}

/** Reads a record of crawling. Throws ShapeError for any other record. */
export function parseCrawl(bytes: Uint8Array) {
  const { type, place, members } = parseRecord(bytes)
  if (type !== 'crawl') throw new ShapeError('record.type: not a record of crawling')
  const crawl = members.object('crawl')
  const preferences = listMembers(crawl.object('preferences')).map(parsePreference)
  return {
    ...place,
    operator: crawl.text('operator'),
    from: crawl.moment('from'),
    to: crawl.moment('to'),
    leftOut: crawl.integer('left_out'),
    preferences,
    rows: listMembers(crawl.object('rows')).map((row) => parseRow(row, preferences)),
    ...(members.has('subject') ? { subject: members.object('subject').textLike('commit', HEX_HASH) } : {}),
  }
}

/** Lists the members of an object that stands for a list; canonical text has them in order. */
function listMembers(object: Members): readonly Members[] {
  return Object.keys(object.raw).map((name) => object.object(name))
}

function parsePreference(entry: Members): RecordedPreference {
  return {
    host: entry.text('host'),
    ...(entry.has('robots_sha256') ? { robotsSha256: entry.textLike('robots_sha256', HEX_HASH) } : {}),
    ...(entry.has('content_usage') ? { contentUsage: entry.text('content_usage') } : {}),
    ...(entry.has('licence') ? { licence: entry.text('licence') } : {}),
  }
}

function parseRow(row: Members, preferences: readonly RecordedPreference[]): RecordedRow {
  const preference = preferences[row.integer('preference')]
  if (preference === undefined) throw new ShapeError(`${row.at('preference')}: there is no such one`)
  return {
    crawler: row.text('crawler'),
    purpose: row.text('purpose'),
    proof: row.text('proof'),
    path: row.text('path'),
    preference,
    robots: row.textLike('robots', /^(allowed|disallowed|unread)$/),
    action: row.text('action'),
    enforced: row.textLike('enforced', /^(yes|no)$/) === 'yes',
    ...(row.has('price') ? { price: row.text('price') } : {}),
    ...(row.has('licence') ? { licence: row.text('licence') } : {}),
    ...(row.has('receipts') ? { receipts: row.text('receipts').split(' ') } : {}),
    requests: row.integer('requests'),
    pages: row.integer('pages'),
    bytes: row.integer('bytes'),
  }
}
