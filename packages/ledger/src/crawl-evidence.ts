import { listDocuments } from './audit-record.ts'
import { base64, type EvidencePorts, findSpan, readAnchors, readCheckpoint, readTexts } from './evidence.ts'
import type { LedgerStore } from './ports.ts'
import { buildJwks } from './signing.ts'
import { createProver } from './tree.ts'
import { CRAWLS_TYPE, MAX_CRAWLS } from './verify/crawl-form.ts'
import { CRAWL_STATEMENTS } from './verify/statements.ts'

/** The evidence of what an operator read, as it is handed out; the form is in packages/sallyport/docs/evidence.md#records-and-evidence. */
export type CrawlsJson = NonNullable<Awaited<ReturnType<typeof buildCrawls>>>

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
export async function buildCrawls(operator: string, { withAddresses, ...span }: CrawlsQuery, ports: EvidencePorts) {
  const { store } = ports
  const log = crawlLog(operator)
  const { low, high, count } = await findSpan(log, span, ports)
  if (count === 0) return undefined
  if (high - low > MAX_CRAWLS) throw tooLarge(`${high - low} records; ${MAX_CRAWLS} are the most`)
  const { newest, checkpoint } = await readCheckpoint(store, log, high - 1)
  const prover = createProver(store, log)
  const { records, addresses, robots } = await readRecords(store, log, low, high, withAddresses)
  const after = high < checkpoint.size ? await prover.consistency(high, checkpoint.size) : []
  return {
    media_type: CRAWLS_TYPE,
    created_at: new Date(ports.now()).toISOString(),
    origin: store.origin,
    log: `${store.origin}/${log}`,
    query: span,
    records,
    tree: { before: (await prover.peaks(low)).map(base64), after: after.map(base64) },
    addresses,
    checkpoint: newest,
    ...(await readAnchors(prover, log, high - 1, checkpoint.size, ports)),
    keys: buildJwks(store.origin, ports.keys()),
    documents: await readTexts(store, robots),
    statements: CRAWL_STATEMENTS,
  }
}

/** Bounds the file without its documents, in characters: readers hold a file as one string, of at most 512 MiB. */
const MAX_TEXT = 480 * 2 ** 20
/** What a record takes in the file beside its text and its addresses. */
const RECORD_OVERHEAD = 150

const tooLarge = (what: string): RangeError => new RangeError(`The span holds ${what}. Export shorter spans.`)

const STRIDE = 1_000

/** Reads the texts of records, what is left of their addresses, and the hashes of every robots.txt that they name. */
async function readRecords(store: LedgerStore, log: string, low: number, high: number, withAddresses: boolean) {
  const records: string[] = []
  const addresses: { readonly seq: number; readonly addresses: string; readonly salt: string }[] = []
  const robots = new Set<string>()
  let size = 0
  for (let at = low; at < high; at = low + records.length) {
    const found = await store.records(log, at, Math.min(STRIDE, high - at))
    if (found.length === 0) throw new Error(`Record ${at} of ${log} is not there.`)
    const subjects = withAddresses ? await store.subjects(found.map(({ attestationId }) => attestationId)) : undefined
    for (const { seq, attestationId, bytes } of found) {
      const text = Buffer.from(bytes).toString()
      const subject = subjects?.get(attestationId)
      size += JSON.stringify(text).length + (subject?.address.length ?? 0) + RECORD_OVERHEAD
      if (size > MAX_TEXT) throw tooLarge(`more than ${MAX_TEXT / 2 ** 20} MiB of records`)
      records.push(text)
      for (const hash of listDocuments(text)) robots.add(hash)
      if (subject !== undefined) addresses.push({ seq, addresses: subject.address, salt: base64(subject.salt) })
    }
  }
  return { records, addresses, robots }
}
