import { createHash } from 'node:crypto'
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Fetch, fetchBytes, type ListEntries } from '@sallyport/core'
import type { UrlConfig } from './list-config.ts'
import { type ListRead, MAX_BYTES, readListBytes, readListFile } from './read-list.ts'

/** A copy in dataDir of what a URL had: entries a line, below a line that names the URL by a digest, as it may hold a token. */
export interface ListCopy {
  readonly path: string
  /** When it was fetched, milliseconds since the epoch; `undefined` where there is none of this URL. */
  at(): Promise<number | undefined>
  read(): Promise<ListRead>
  /** Its text, of these entries, in parts. */
  textOf(entries: ListEntries): Iterable<string>
}

export function listCopy(dataDir: string, name: string, url: string, wide: boolean): ListCopy {
  const path = join(dataDir, 'lists', name)
  const title = `# sallyport list of ${createHash('sha256')
    .update(wide ? `${url} wide` : url)
    .digest('hex')
    .slice(0, 32)}`
  return {
    path,
    async at() {
      return (await headOf(path))?.startsWith(title) ? (await stat(path)).mtimeMs : undefined
    },
    async read() {
      const head = await headOf(path)
      if (head?.startsWith(title) === false) return { state: 'refused', reason: 'is the copy of another URL' }
      const read = await readListFile(path, 'lines', wide)
      const left = Number(/^, left (\d+)\n/.exec(head?.slice(title.length) ?? '')?.[1] ?? 0)
      return read.state === 'refused' ? read : { ...read, entries: { ...read.entries, left } }
    },
    *textOf({ addresses, systems, texts, left, withheldCount }) {
      yield `${title}, left ${left + withheldCount}\n`
      for (const entries of [addresses, systems.map((system) => `AS${system}`), texts]) {
        for (let from = 0; from < entries.length; from += A_PART) {
          yield `${entries.slice(from, from + A_PART).join('\n')}\n`
        }
      }
    },
  }
}

/** Entries that are written at once. */
const A_PART = 4_096

/** The beginning of a file; `undefined` where it cannot be read. */
async function headOf(path: string): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined)
  try {
    const read = await file?.read(Buffer.alloc(100))
    return read?.buffer.toString('latin1', 0, read.bytesRead)
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

/** Asks a URL for its list, once; redirects to the inside are refused by the guard of `outbound`. */
export async function fetchList(
  outbound: Fetch,
  { url, format, wide }: UrlConfig,
  { timeoutMs = TIMEOUT_MS, signal }: FetchBounds,
): Promise<ListRead> {
  const answer = await fetchBytes(outbound, { url, maxBytes: MAX_BYTES, timeoutMs, redirects: REDIRECTS, signal })
  if (answer.state === 'failed') return { state: 'refused', reason: `could not be fetched: ${answer.reason}` }
  if (answer.status !== 200) return { state: 'refused', reason: `was answered with ${answer.status}` }
  return readListBytes(answer.body, format, wide)
}
