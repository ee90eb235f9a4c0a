import { authenticity } from './authenticity.ts'
import { type AxisResult, failed, notProvided, passed, sumUp } from './axis-result.ts'
import { parseWitness } from './cosignature.ts'
import { counted } from './counted.ts'
import { type CrawlRecord, type Crawls, parseCrawl, parseCrawls, type RecordedRow } from './crawl-form.ts'
import { commitment, genesisLink, leafHash, nodeHash, sha256Hex } from './hash.ts'
import { parseJson } from './json.ts'
import { parseJwks } from './keys.ts'
import { ShapeError } from './shape.ts'
import { type TimestampFindings, time } from './time.ts'
import { isConsistent } from './tree.ts'

/**
 * Lists the checks of evidence about crawling.
 *
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs'
 * import { CRAWL_AXES, verifyCrawls } from '@sallyport/ledger/verify'
 *
 * const { axes } = verifyCrawls(readFileSync('openai.json', 'utf8'))
 * for (const axis of CRAWL_AXES) console.log(axis, axes[axis].outcome)
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/evidence.md#records-of-crawling
 */
export const CRAWL_AXES = [
  'format',
  'authenticity',
  'integrity',
  'inclusion',
  'completeness',
  'disclosure',
  'time',
] as const
/** Names one of the checks in `CRAWL_AXES`. */
export type CrawlAxis = (typeof CRAWL_AXES)[number]

/** Counts what one operator read of one path or pattern, over all records of the span. */
export interface CrawledPath extends RecordedRow {
  /** Dates, in ISO 8601, the first and the last record that has the path. */
  readonly first: string
  readonly last: string
}

/** Says what `verifyCrawls` found. */
export interface CrawlsReport {
  /** True if no check failed. */
  readonly ok: boolean
  /** True if no check failed and the caller's keys signed the checkpoint. */
  readonly isProven: boolean
  readonly operator?: string | undefined
  /** Counts requests that no row has, according to the service. */
  readonly leftOut: number
  /** Lists what the operator read, most requests first; empty if a check failed. */
  readonly paths: readonly CrawledPath[]
  /** Holds the addresses of proven crawlers, if they are disclosed. */
  readonly addresses: readonly string[]
  readonly provedBefore?: string | undefined
  readonly axes: Readonly<Record<CrawlAxis, AxisResult>>
}

/**
 * Checks evidence of what an operator read, offline, as `verifyEvidence` checks attestations: the same keys, timestamps and
 * witnesses. Never throws for bad evidence; throws ShapeError for `keys` that are no JWKS (RFC 7517), and for a witness's key that is none.
 *
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs'
 * import { verifyCrawls } from '@sallyport/ledger/verify'
 *
 * const { ok, paths } = verifyCrawls(readFileSync('crawls.json', 'utf8'), readFileSync('keys.json', 'utf8'))
 * for (const { path, robots, requests } of paths) console.log(ok, path, robots, requests)
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/evidence.md#crawling
 */
export function verifyCrawls(
  evidence: unknown,
  keys?: unknown,
  timestamps?: TimestampFindings,
  witnesses: readonly string[] = [],
): CrawlsReport {
  const known = witnesses.map(parseWitness)
  const trusted = keys === undefined ? undefined : parseJwks(typeof keys === 'string' ? parseJson(keys, 'keys') : keys)
  let file: Crawls
  let walk: Walk
  try {
    file = parseCrawls(typeof evidence === 'string' ? parseJson(evidence, 'The file') : evidence)
    walk = walkRecords(file)
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    const { axes } = sumUp(CRAWL_AXES, { format: failed(error.message) })
    return { ok: false, isProven: false, leftOut: 0, paths: [], addresses: [], axes }
  }
  const { axis, provedBefore } = time(file, walk.places, timestamps, known)
  const { ok, isProven, axes } = sumUp(CRAWL_AXES, {
    format: passed(`${counted(file.records.length, 'record')} in the form of this version.`),
    // The signed checkpoint covers the records.
    authenticity: authenticity({ ...file, records: [] }, trusted),
    integrity: integrity(file, walk),
    inclusion: inclusion(file, walk),
    completeness: completeness(file, walk),
    disclosure: disclosure(file, walk),
    time: axis,
  })
  return {
    ok,
    isProven,
    operator: walk.first.operator,
    leftOut: ok ? walk.leftOut : 0,
    paths: ok ? listPaths(walk.paths.values()) : [],
    addresses: ok ? [...new Set(file.addresses.flatMap(({ addresses }) => addresses.split(' ')))].sort() : [],
    ...(ok && provedBefore !== undefined ? { provedBefore } : {}),
    axes,
  }
}

type Walk = ReturnType<typeof walkRecords>

/** Reads the records one after the other and keeps none: a busy month of them takes gigabytes. Throws ShapeError for a malformed record. */
function walkRecords({ records, log, before, addresses, query: { from, to } }: Crawls) {
  const disclosed = new Set(addresses.map(({ seq }) => seq))
  const places: { readonly seq: number }[] = []
  const robots = new Set<string>()
  const subjects = new Map<number, string | undefined>()
  const paths = new Map<string, Sum>()
  const start = parseCrawl(Buffer.from(records[0] ?? ''))
  const isWhole = before.length === start.seq.toString(2).replaceAll('0', '').length
  const peaks: Uint8Array[] = [...before]
  let last: CrawlRecord | undefined
  let link = start.seq === 0 ? genesisLink(log) : start.prev
  let fault: string | undefined
  let leftOut = 0
  for (const text of records) {
    const bytes = Buffer.from(text)
    const record = parseCrawl(bytes)
    fault ??= findFault(record, last, { log, operator: start.operator, link })
    let node: Uint8Array = leafHash(bytes)
    link = Buffer.from(node).toString('hex')
    if (isWhole) {
      for (let index = start.seq + places.length; index % 2 === 1; index = (index - 1) / 2) {
        node = nodeHash(peaks.pop() as Uint8Array, node)
      }
      peaks.push(node)
    }
    for (const { robotsSha256 } of record.preferences) if (robotsSha256 !== undefined) robots.add(robotsSha256)
    if (disclosed.has(record.seq)) subjects.set(record.seq, record.subject)
    if (record.issuedAt >= from && record.issuedAt <= to) {
      leftOut += record.leftOut
      addRows(paths, record)
    }
    places.push({ seq: record.seq })
    last = record
  }
  const tree = isWhole ? peaks : undefined
  return { first: start, last: last ?? start, places, fault, peaks: tree, robots, subjects, leftOut, paths }
}

function findFault(
  { seq, prev, issuedAt, ...record }: CrawlRecord,
  before: CrawlRecord | undefined,
  { log, operator, link }: Pick<CrawlRecord, 'log' | 'operator'> & { readonly link: string },
): string | undefined {
  if (record.log !== log) return `Record ${seq} belongs to another log.`
  if (record.operator !== operator) return `Record ${seq} is about another operator.`
  if (before !== undefined && seq !== before.seq + 1) return 'There are gaps between the records.'
  if (prev !== link) {
    return before === undefined
      ? 'The first record does not begin its log.'
      : `Record ${seq} does not link to the record before it.`
  }
  return before !== undefined && issuedAt < before.issuedAt ? `Record ${seq} goes back in time.` : undefined
}

function integrity({ log, origin, documents }: Crawls, { fault, robots }: Walk): AxisResult {
  if (!log.startsWith(`${origin}/c/`)) return failed('The log does not record crawling in this ledger.')
  if (fault !== undefined) return failed(fault)
  const changed = documents.find(({ sha256, text }) => sha256Hex(text) !== sha256)
  if (changed !== undefined) return failed(`The document ${changed.sha256} does not match its hash.`)
  const known = new Set(documents.map(({ sha256 }) => sha256))
  const missing = [...robots].find((sha256) => !known.has(sha256))
  return missing === undefined
    ? passed('The records, their links and every robots.txt match their hashes.')
    : failed(`The robots.txt ${missing} is missing from the file.`)
}

/** Compares the tree, extended from the peaks before the first record, with the checkpoint. */
function inclusion({ after, checkpoint, log }: Crawls, { first, places, peaks }: Walk): AxisResult {
  if (checkpoint.origin !== log) return failed('The checkpoint belongs to another log.')
  if (peaks === undefined) return failed('The tree before the first record is incomplete.')
  const root = peaks.reduceRight((right, left) => nodeHash(left, right))
  return isConsistent(first.seq + places.length, root, checkpoint.size, checkpoint.root, after)
    ? passed(`The checkpoint at size ${checkpoint.size} covers the records.`)
    : failed('The checkpoint does not cover the records.')
}

function completeness({ query: { from, to }, checkpoint }: Crawls, { first, last }: Walk): AxisResult {
  if (first.seq > 0 && first.issuedAt >= from) return failed('Earlier records of the span may be missing.')
  if (last.seq < checkpoint.size - 1 && last.issuedAt <= to) return failed('Later records of the span may be missing.')
  return passed(`The file has all records of this operator from ${from} to ${to}, as of the checkpoint.`)
}

function disclosure({ addresses }: Crawls, { subjects }: Walk): AxisResult {
  if (addresses.length === 0) return notProvided('The addresses were erased or omitted.')
  const wrong = addresses.find(({ seq, addresses, salt }) => commitment(salt, addresses) !== subjects.get(seq))
  return wrong === undefined
    ? passed(`The addresses match ${counted(addresses.length, 'record')}.`)
    : failed(`Record ${wrong.seq}: the addresses do not match the record.`)
}

/** Sums the rows of a path. Records of several processes overlap, so a later record may begin earlier. */
function addRows(sums: Map<string, Sum>, { rows, from, to }: CrawlRecord): void {
  for (const { requests, pages, bytes, receipts = [], ...same } of rows) {
    const key = JSON.stringify(same)
    const sum = sums.get(key) ?? { ...same, receipts: [], requests: 0, pages: 0, bytes: 0, first: from, last: to }
    sums.set(key, sum)
    sum.receipts.push(...receipts)
    sum.requests += requests
    sum.pages += pages
    sum.bytes += bytes
    if (from < sum.first) sum.first = from
    if (to > sum.last) sum.last = to
  }
}

type Sum = { -readonly [Member in keyof CrawledPath]: CrawledPath[Member] } & { readonly receipts: string[] }

/** Lists the paths of all records, most requests first. A path without receipts has no such member. */
function listPaths(sums: Iterable<Sum>): readonly CrawledPath[] {
  const paths = [...sums].map(({ receipts, ...sum }) => (receipts.length > 0 ? { ...sum, receipts } : sum))
  return paths.sort((x, y) => y.requests - x.requests)
}
