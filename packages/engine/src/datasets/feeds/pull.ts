import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import {
  type Clock,
  dropBody,
  errorText,
  type Fetch,
  type FetchAnswer,
  fetchText,
  SallyportError,
} from '@sallyport/core'
import type { SourceRow } from '@sallyport/data/sources'
import { readFault, replaceFile } from '#files'
import type { Feed, SeenAnswer } from '../sources/feed-state.ts'
import { followIndex } from './follow-index.ts'
import { limitBytes, unpack } from './unpack.ts'

/** The outcome of one request for a feed. With `whole` the file is complete and durable at the path. */
export type Pulled = { readonly state: 'unchanged' } | Whole | Failed

export interface Whole extends Omit<SeenAnswer, 'refused'> {
  readonly state: 'whole'
  readonly size: number
}

interface Failed {
  readonly state: 'failed'
  readonly reason: string
  /** Whether the same request may succeed a little later. */
  readonly transient: boolean
  /** False when the server sent no response. */
  readonly answered: boolean
  readonly retryAfterMs?: number | undefined
}

export interface PullOptions {
  /** The path that receives the file. */
  readonly path: string
  /** When absent, the feed is fetched whether it changed or not. */
  readonly seen?: SeenAnswer | undefined
  readonly outbound: Fetch
  /** URLs may contain the month. */
  readonly clock: Clock
  readonly onBytes?: ((source: string, bytes: number, total: number | undefined) => void) | undefined
  /** Replaces the timeout of the source's kind. */
  readonly timeoutMs?: number | undefined
  /** Ends waits and requests. */
  readonly signal?: AbortSignal | undefined
}

interface Bounds {
  readonly download: number
  readonly unpacked: number
  readonly timeoutMs: number
}

const MiB = 2 ** 20
const LIST: Bounds = { download: 64 * MiB, unpacked: 128 * MiB, timeoutMs: 60_000 }

/** The bytes and the time that a source of a kind may take. A city database has 60 MB packed and 130 unpacked. */
const BOUNDS: Partial<Readonly<Record<SourceRow['kind'], Bounds>>> = {
  asn: { download: 128 * MiB, unpacked: 256 * MiB, timeoutMs: 300_000 },
  'asn-country': { download: 128 * MiB, unpacked: 256 * MiB, timeoutMs: 300_000 },
  country: { download: 128 * MiB, unpacked: 256 * MiB, timeoutMs: 300_000 },
  geofeed: { download: 128 * MiB, unpacked: 512 * MiB, timeoutMs: 300_000 },
  city: { download: 256 * MiB, unpacked: 512 * MiB, timeoutMs: 900_000 },
}

const REDIRECTS = 3
/** Bounds of a page that links to a file. */
const MAX_PAGE_BYTES = 4 * MiB
const PAGE_MS = 30_000
/** Statuses of failures that a retry may overcome. */
const TRANSIENT = new Set([408, 425, 429, 500, 502, 503, 504])

/** Requests a feed once. Rejects only when the disk fails. */
export async function pull(feed: Feed, options: PullOptions): Promise<Pulled> {
  const { path } = options
  const bounds = BOUNDS[feed.row.kind] ?? LIST
  try {
    const write = feed.url.startsWith('file:') ? copyFile : download
    const pulled = await write(feed, options, bounds)
    if (pulled.state !== 'whole') return pulled
    await unpack(path, bounds.unpacked)
    const { download: maxBytes, timeoutMs } = bounds
    const { outbound, signal } = options
    const fault = isIndex(feed) ? await followIndex(path, feed, outbound, { maxBytes, timeoutMs, signal }) : undefined
    if (fault !== undefined) return fail(fault, { transient: true })
    return { ...pulled, ...(await identify(path)) }
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    return fail(error.message)
  }
}

/** Reports whether the URL may serve an index. An unchanged index says nothing of the files that it names. */
function isIndex({ row, url, mirror }: Feed): boolean {
  return row.index !== undefined && mirror === undefined && !url.startsWith('file:')
}

type Written = Omit<Whole, 'id' | 'size'> | Exclude<Pulled, Whole>

/** The time and the size of a file serve as its ETag. */
async function copyFile(feed: Feed, { path, seen, onBytes }: PullOptions, bounds: Bounds): Promise<Written> {
  const from = fileURLToPath(feed.url)
  const stats = await stat(from).catch(() => undefined)
  if (!stats?.isFile() || readFault(from) !== undefined) return fail(`${from} does not exist`)
  const etag = `${stats.mtimeMs}-${stats.size}`
  if (seen?.etag === etag) return { state: 'unchanged' }
  const onCopied = (bytes: number) => onBytes?.(feed.row.id, bytes, stats.size)
  await replaceFile(path, limitBytes(createReadStream(from), bounds.unpacked, onCopied))
  return { state: 'whole', etag, lastModified: stats.mtime.toUTCString() }
}

async function download(feed: Feed, options: PullOptions, bounds: Bounds): Promise<Written> {
  const { path, seen, outbound, onBytes, signal } = options
  const urls = await locate(feed, options)
  if ('state' in urls) return urls
  const request = {
    maxBytes: bounds.download,
    timeoutMs: options.timeoutMs ?? bounds.timeoutMs,
    redirects: REDIRECTS,
    headers: { ...validators(isIndex(feed) ? undefined : seen), ...authorisation(feed) },
    signal,
  }
  let answer: FetchAnswer | undefined
  for (const url of urls) {
    if (answer !== undefined) await dropBody(answer)
    answer = await outbound.fetch({ ...request, url })
    if (answer.state !== 'answered' || answer.status !== 404) break
  }
  if (answer === undefined) throw new Error('a feed has at least one URL')
  if (answer.state === 'failed') return fail(answer.reason, SILENT)
  if (answer.status !== 200) {
    await dropBody(answer)
    return answer.status === 304 ? { state: 'unchanged' } : refusal(answer)
  }
  const { headers, body } = answer
  const total = Number(headers['content-length'])
  const expected = headers['content-encoding'] === undefined && total > 0 ? total : undefined
  const onReceived = (bytes: number) => onBytes?.(feed.row.id, bytes, expected)
  try {
    await replaceFile(path, limitBytes(Readable.from(body), bounds.download, onReceived))
  } catch (error) {
    if (error instanceof SallyportError || isDiskFault(error)) throw error
    return fail(errorText(error), { transient: true })
  }
  return { state: 'whole', etag: headers['etag'], lastModified: headers['last-modified'] }
}

/** Lists the URLs under which a feed may be found now, the likeliest first. */
async function locate(
  { row, url, published, mirror }: Feed,
  { outbound, clock, signal }: PullOptions,
): Promise<readonly string[] | Failed> {
  if (mirror !== undefined) return [mirror]
  if (row.link !== undefined && published) {
    const request = { url, maxBytes: MAX_PAGE_BYTES, timeoutMs: PAGE_MS, redirects: REDIRECTS, signal }
    const page = await fetchText(outbound, request)
    if (page.state === 'failed') return fail(page.reason, SILENT)
    if (page.status !== 200) return refusal(page)
    const [found] = new RegExp(row.link).exec(page.body) ?? []
    return found === undefined ? fail('the page no longer links to the file') : [found]
  }
  if (!url.includes(MONTH)) return [url]
  const today = new Date(clock.now())
  // A month's file appears some time in the month: before that the last one is the newest.
  const months = [0, 1].map((back) => new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - back, 1)))
  return months.map((month) => url.replace(MONTH, month.toISOString().slice(0, 7)))
}

const MONTH = '{YYYY-MM}'

function validators(seen: SeenAnswer | undefined): Readonly<Record<string, string>> {
  return {
    ...(seen?.etag === undefined ? {} : { 'if-none-match': seen.etag }),
    ...(seen?.lastModified === undefined ? {} : { 'if-modified-since': seen.lastModified }),
  }
}

function authorisation({ key }: Feed): Readonly<Record<string, string>> {
  return key === undefined ? {} : { authorization: `Basic ${Buffer.from(key).toString('base64')}` }
}

/** A server that sends no response may send one a little later. */
const SILENT = { transient: true, answered: false } as const

function fail(reason: string, more: Partial<Failed> = {}): Failed {
  return { state: 'failed', reason, transient: false, answered: true, ...more }
}

function refusal({ status, headers }: Pick<Extract<FetchAnswer, { state: 'answered' }>, 'status' | 'headers'>): Failed {
  const seconds = Number(headers['retry-after'])
  const retryAfterMs = seconds > 0 ? seconds * 1000 : undefined
  return fail(`the server responded with status ${status}`, { transient: TRANSIENT.has(status), retryAfterMs })
}

function isDiskFault(error: unknown): boolean {
  return (
    error instanceof Error && 'syscall' in error && ['write', 'open', 'fsync', 'rename'].includes(String(error.syscall))
  )
}

async function identify(path: string): Promise<{ readonly id: string; readonly size: number }> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk)
    size += chunk.length
  }
  return { id: hash.digest('hex').slice(0, 16), size }
}
