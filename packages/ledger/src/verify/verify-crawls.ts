import { authenticity } from './authenticity.ts'
import { type AxisResult, completeAxes, failed, notProvided, passed } from './axis-result.ts'
import { parseWitness } from './cosignature.ts'
import { counted } from './counted.ts'
import { type CrawlRecord, type Crawls, parseCrawls, type RecordedRow } from './crawl-form.ts'
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
  try {
    file = parseCrawls(typeof evidence === 'string' ? parseJson(evidence, 'The file') : evidence)
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    return {
      ok: false,
      isProven: false,
      leftOut: 0,
      paths: [],
      addresses: [],
      axes: completeAxes(CRAWL_AXES, { format: failed(error.message) }),
    }
  }
  const records = file.records.map(({ record }) => record)
  const { axis, provedBefore } = time(file, records, timestamps, known)
  const axes = completeAxes(CRAWL_AXES, {
    format: passed(`${counted(records.length, 'record')} in the form of this version.`),
    // The signed checkpoint covers the records.
    authenticity: authenticity({ ...file, records: [] }, trusted),
    integrity: integrity(file),
    inclusion: inclusion(file),
    completeness: completeness(file, records),
    disclosure: disclosure(file, records),
    time: axis,
  })
  const ok = CRAWL_AXES.every((name) => axes[name].outcome !== 'fail')
  const asked = ok ? records.filter(({ issuedAt }) => isWithin(issuedAt, file)) : []
  return {
    ok,
    isProven: ok && axes.authenticity.outcome === 'pass',
    operator: records[0]?.operator,
    leftOut: asked.reduce((sum, { leftOut }) => sum + leftOut, 0),
    paths: sumPaths(asked),
    addresses: ok ? [...new Set(file.addresses.flatMap(({ addresses }) => addresses.split(' ')))].sort() : [],
    ...(ok && provedBefore !== undefined ? { provedBefore } : {}),
    axes,
  }
}

function isWithin(issuedAt: string, { query: { from, to } }: Crawls): boolean {
  return issuedAt >= from && issuedAt <= to
}

/** Checks whether all parts of the file belong together. */
function integrity({ records, log, origin, documents }: Crawls): AxisResult {
  const [first] = records
  if (!log.startsWith(`${origin}/c/`)) return failed('The log is not one of crawling of this ledger.')
  for (const [at, { record }] of records.entries()) {
    const before = records[at - 1]
    if (record.log !== log) return failed(`Record ${record.seq} is of another log.`)
    if (record.operator !== first?.record.operator) return failed(`Record ${record.seq} is about another operator.`)
    if (before === undefined) continue
    if (record.seq !== before.record.seq + 1) return failed('There are gaps between the records.')
    if (record.prev !== leafHash(before.bytes).toString('hex')) {
      return failed(`Record ${record.seq} does not link to the record before it.`)
    }
    if (record.issuedAt < before.record.issuedAt) return failed(`Record ${record.seq}: time runs backwards.`)
  }
  if (first?.record.seq === 0 && first.record.prev !== genesisLink(log))
    return failed('The first record does not begin its log.')
  const changed = documents.find(({ sha256, text }) => sha256Hex(text) !== sha256)
  if (changed !== undefined) return failed(`The document ${changed.sha256} is not the text that has this hash.`)
  const known = new Set(documents.map(({ sha256 }) => sha256))
  const named = records.flatMap(({ record }) => record.preferences.map(({ robotsSha256 }) => robotsSha256))
  const missing = named.find((sha256) => sha256 !== undefined && !known.has(sha256))
  return missing === undefined
    ? passed('Records, links and every robots.txt fit their hashes.')
    : failed(`The robots.txt ${missing} is not in the file.`)
}

/** Extends the tree from the peaks before the first record, and compares it with the checkpoint. */
function inclusion({ records, before, after, checkpoint, log }: Crawls): AxisResult {
  if (checkpoint.origin !== log) return failed('The checkpoint is that of another log.')
  const start = records[0]?.record.seq ?? 0
  if (before.length !== start.toString(2).replaceAll('0', '').length)
    return failed('The tree before the first record is not whole.')
  const peaks: Uint8Array[] = [...before]
  let size = start
  for (const { bytes } of records) {
    let node: Uint8Array = leafHash(bytes)
    for (let index = size; index % 2 === 1; index = (index - 1) / 2) node = nodeHash(peaks.pop() as Uint8Array, node)
    peaks.push(node)
    size++
  }
  const root = peaks.reduceRight((right, left) => nodeHash(left, right))
  return isConsistent(size, root, checkpoint.size, checkpoint.root, after)
    ? passed(`Under the checkpoint at size ${checkpoint.size}.`)
    : failed('The records are not under the checkpoint.')
}

function completeness({ query: { from, to }, checkpoint }: Crawls, records: readonly CrawlRecord[]): AxisResult {
  const first = records[0] as CrawlRecord
  const last = records.at(-1) as CrawlRecord
  if (first.seq > 0 && first.issuedAt >= from) return failed('Earlier records of the span may be missing.')
  if (last.seq < checkpoint.size - 1 && last.issuedAt <= to) return failed('Later records of the span may be missing.')
  return passed(`All records of this operator from ${from} to ${to}, as of the checkpoint.`)
}

function disclosure({ addresses }: Crawls, records: readonly CrawlRecord[]): AxisResult {
  if (addresses.length === 0) return notProvided('Addresses were erased, or left out of the file.')
  const subjects = new Map(records.map(({ seq, subject }) => [seq, subject]))
  const wrong = addresses.find(({ seq, addresses, salt }) => commitment(salt, addresses) !== subjects.get(seq))
  return wrong === undefined
    ? passed(`The addresses are the recorded ones in ${counted(addresses.length, 'record')}.`)
    : failed(`Record ${wrong.seq}: the addresses are not those that were recorded.`)
}

function sumPaths(records: readonly CrawlRecord[]): readonly CrawledPath[] {
  const sums = new Map<string, CrawledPath>()
  for (const { rows, from, to } of records) {
    for (const row of rows) {
      const { requests, pages, bytes, receipts = [], ...same } = row
      const key = JSON.stringify(same)
      const known = sums.get(key)
      sums.set(key, {
        ...same,
        ...(receipts.length > 0 ? { receipts: [...(known?.receipts ?? []), ...receipts] } : {}),
        requests: requests + (known?.requests ?? 0),
        pages: pages + (known?.pages ?? 0),
        bytes: bytes + (known?.bytes ?? 0),
        first: known?.first ?? from,
        last: to,
      })
    }
  }
  return [...sums.values()].sort((x, y) => y.requests - x.requests)
}
