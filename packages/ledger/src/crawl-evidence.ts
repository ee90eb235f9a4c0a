import {
  type AnchorJson,
  base64,
  type DocumentJson,
  type EvidencePorts,
  firstPlace,
  readAnchors,
  readTexts,
} from './evidence.ts'
import { type LedgerStore, readHead } from './ports.ts'
import { buildJwks, type Jwks } from './signing.ts'
import { createProver } from './tree.ts'
import { CRAWLS_TYPE, MAX_CRAWLS, parseCrawl } from './verify/crawl-form.ts'
import { parseCheckpoint } from './verify/note.ts'
import { CRAWL_STATEMENTS } from './verify/statements.ts'

/** The evidence of what an operator read, as it is handed out; the form is in packages/sallyport/docs/evidence.md#records-and-evidence. */
export interface CrawlsJson {
  readonly media_type: typeof CRAWLS_TYPE
  readonly created_at: string
  readonly origin: string
  readonly log: string
  readonly query: { readonly from: string; readonly to: string }
  /** The canonical texts, with the record before and after the span where there are some. */
  readonly records: readonly string[]
  /** The peaks of the tree before the first record, and the proof that the log continues the last. */
  readonly tree: { readonly before: readonly string[]; readonly after: readonly string[] }
  readonly addresses: readonly { readonly seq: number; readonly addresses: string; readonly salt: string }[]
  readonly checkpoint: string
  readonly anchors?: readonly AnchorJson[] | undefined
  readonly unanchored?: string | undefined
  readonly keys: Jwks
  readonly documents: readonly DocumentJson[]
  readonly statements: typeof CRAWL_STATEMENTS
}

/** Says what to build: the span, ISO 8601 UTC, both included, and whether addresses are disclosed. */
export interface CrawlsQuery {
  readonly from: string
  readonly to: string
  readonly withAddresses: boolean
}

/** Names the log of what an operator reads. */
export function crawlLog(operator: string): string {
  const name = operator.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  return `c/${name.replace(/^-|-$/g, '') || 'unnamed'}`
}

/** Builds the evidence of one operator's crawling; `undefined` where no record lies in the span. Throws RangeError for too many. */
export async function buildCrawls(
  operator: string,
  { from, to, withAddresses }: CrawlsQuery,
  ports: EvidencePorts,
): Promise<CrawlsJson | undefined> {
  const { store } = ports
  const log = crawlLog(operator)
  const size = (await readHead(store, log))?.size ?? 0
  if (size === 0) return undefined
  const start = await firstPlace(store, log, size, (issuedAt) => issuedAt >= from)
  const end = await firstPlace(store, log, size, (issuedAt) => issuedAt > to)
  if (start >= end) return undefined
  const [low, high] = [Math.max(0, start - 1), Math.min(size, end + 1)]
  if (high - low > MAX_CRAWLS) throw new RangeError(`The span holds ${high - low} records; ${MAX_CRAWLS} are the most.`)
  await ports.cover(log, high - 1)
  const { newest = '' } = await store.checkpoints(log, high - 1)
  const checkpoint = parseCheckpoint(newest)
  if (checkpoint === undefined || checkpoint.size < high) throw new Error(`No checkpoint covers record ${high - 1}.`)
  const prover = createProver((level, index) => store.tile(log, level, index))
  const records = await readAll(store, log, low, high)
  const after = high < checkpoint.size ? await prover.consistency(high, checkpoint.size) : []
  return {
    media_type: CRAWLS_TYPE,
    created_at: new Date(ports.now()).toISOString(),
    origin: store.origin,
    log: `${store.origin}/${log}`,
    query: { from, to },
    records: records.map(({ bytes }) => Buffer.from(bytes).toString()),
    tree: { before: (await prover.peaks(low)).map(base64), after: after.map(base64) },
    addresses: withAddresses ? await readAddresses(store, records) : [],
    checkpoint: newest,
    ...(await readAnchors(prover, log, high - 1, checkpoint.size, ports)),
    keys: buildJwks(store.origin, ports.keys()),
    documents: await readDocuments(store, records),
    statements: CRAWL_STATEMENTS,
  }
}

type Records = Awaited<ReturnType<LedgerStore['records']>>

const STRIDE = 1_000

async function readAll(store: LedgerStore, log: string, low: number, high: number): Promise<Records> {
  const found: Records[number][] = []
  while (low + found.length < high) {
    const next = await store.records(log, low + found.length, Math.min(STRIDE, high - low - found.length))
    if (next.length === 0) throw new Error(`Record ${low + found.length} of ${log} is not there.`)
    found.push(...next)
  }
  return found
}

async function readAddresses(store: LedgerStore, records: Records): Promise<CrawlsJson['addresses']> {
  const found: CrawlsJson['addresses'][number][] = []
  for (let at = 0; at < records.length; at += STRIDE) {
    const part = records.slice(at, at + STRIDE)
    const subjects = await store.subjects(part.map(({ attestationId }) => attestationId))
    for (const { seq, attestationId } of part) {
      const subject = subjects.get(attestationId)
      if (subject !== undefined) found.push({ seq, addresses: subject.address, salt: base64(subject.salt) })
    }
  }
  return found
}

async function readDocuments(store: LedgerStore, records: Records): Promise<readonly DocumentJson[]> {
  const hashes = new Set(
    records.flatMap(({ bytes }) => parseCrawl(bytes).preferences.map(({ robotsSha256 }) => robotsSha256)),
  )
  hashes.delete(undefined)
  return readTexts(store, hashes as ReadonlySet<string>)
}
