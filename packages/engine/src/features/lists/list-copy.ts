import { createHash } from 'node:crypto'
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Fetch, fetchBytes, type ListEntries } from '@sallyport/core'
import type { UrlConfig } from './list-config.ts'
import { type ListRead, MAX_BYTES, readListBytes, readListFile } from './read-list.ts'

/** Keeps a URL's list in dataDir, one entry a line, below a digest that names the URL, because the URL may hold a token. */
export function listCopy(dataDir: string, name: string, url: string, wide: boolean) {
  const path = join(dataDir, 'lists', name)
  const title = `# sallyport list of ${createHash('sha256')
    .update(wide ? `${url} wide` : url)
    .digest('hex')
    .slice(0, 32)}`
  return {
    path,
    /** When the copy was fetched, in milliseconds since the epoch; `undefined` if there is no copy of this URL. */
    async at(): Promise<number | undefined> {
      return (await readHead(path))?.startsWith(title) ? (await stat(path)).mtimeMs : undefined
    },
    async read(): Promise<ListRead> {
      const head = await readHead(path)
      if (head?.startsWith(title) === false) return { state: 'refused', reason: 'is a copy of another URL' }
      const read = await readListFile(path, 'lines', wide)
      const [, left = 0, count = 0, names] = TALLY.exec(head?.slice(title.length) ?? '') ?? []
      const withheld = { withheldCount: Number(count), withheld: names?.split(', ') ?? [] }
      return read.state === 'refused'
        ? read
        : { ...read, entries: { ...read.entries, firstLines: {}, left: Number(left), ...withheld } }
    },
    /** Writes these entries as the text of a copy, in parts. */
    *writeText({ addresses, systems, texts, left, withheld, withheldCount }: ListEntries): Iterable<string> {
      const names = withheld.slice(0, NAMES).map((entry) => entry.slice(0, NAME_LENGTH))
      yield `${title}, left ${left}${withheldCount > 0 ? `, withheld ${withheldCount}: ${names.join(', ')}` : ''}\n`
      for (const entries of [addresses, systems.map((system) => `AS${system}`), texts]) {
        for (let from = 0; from < entries.length; from += A_PART) {
          yield `${entries.slice(from, from + A_PART).join('\n')}\n`
        }
      }
    },
  }
}

/** So many entries are written at once. */
const A_PART = 4_096

/** Matches the rest of a copy's first line: how many lines are not entries, and what a guarded list omits. */
const TALLY = /^, left (\d+)(?:, withheld (\d+): (.*))?\n/

/** The first line of a copy is bounded: it names this many omitted entries, with this many characters each. */
const NAMES = 4
const NAME_LENGTH = 80
const HEAD_BYTES = 2_048

async function readHead(path: string): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined)
  try {
    const read = await file?.read(Buffer.alloc(HEAD_BYTES))
    return read?.buffer.toString('utf8', 0, read.bytesRead)
  } catch {
    return undefined
  } finally {
    await file?.close()
  }
}

const REDIRECTS = 3
const TIMEOUT_MS = 60_000

interface FetchBounds {
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Requests a URL's list once; the guard of `outbound` refuses redirects to internal addresses. */
export async function fetchList(
  outbound: Fetch,
  { url, format, wide }: UrlConfig,
  { timeoutMs = TIMEOUT_MS, signal }: FetchBounds,
): Promise<ListRead> {
  const answer = await fetchBytes(outbound, { url, maxBytes: MAX_BYTES, timeoutMs, redirects: REDIRECTS, signal })
  if (answer.state === 'failed') return { state: 'refused', reason: `could not be fetched: ${answer.reason}` }
  if (answer.status !== 200) return { state: 'refused', reason: `responded with ${answer.status}` }
  return readListBytes(answer.body, format, wide)
}
