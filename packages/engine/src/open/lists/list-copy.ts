import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Fetch, fetchBytes, type ListEntries, type ListFormat } from '@sallyport/core'
import { type ListRead, MAX_BYTES, readListBytes, readListFile } from './read-list.ts'

/** A copy in dataDir of what a URL had: entries a line, below a line that names the URL by a digest, as it may hold a token. */
export interface ListCopy {
  readonly path: string
  /** When it was fetched, milliseconds since the epoch; `undefined` where there is none of this URL. */
  at(): Promise<number | undefined>
  read(): Promise<ListRead>
  /** Its text, of these entries. */
  textOf(entries: ListEntries): string
}

export function listCopy(dataDir: string, name: string, url: string): ListCopy {
  const path = join(dataDir, 'lists', name)
  const title = `# sallyport list of ${createHash('sha256').update(url).digest('hex').slice(0, 32)}`
  return {
    path,
    async at() {
      try {
        const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)])
        return text.startsWith(title) ? mtimeMs : undefined
      } catch {
        return undefined
      }
    },
    async read() {
      const read = await readListFile(path, 'lines')
      if (read.state === 'refused') return read
      const text = await readFile(path, 'utf8')
      if (!text.startsWith(title)) return { state: 'refused', reason: 'is the copy of another URL' }
      const left = Number(/^, left (\d+)\n/.exec(text.slice(title.length, title.length + 40))?.[1] ?? 0)
      return { ...read, entries: { ...read.entries, left } }
    },
    textOf({ addresses, systems, texts, left }) {
      const lines = [`${title}, left ${left}`, ...addresses, ...systems.map((system) => `AS${system}`), ...texts]
      return `${lines.join('\n')}\n`
    },
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
  url: string,
  format: ListFormat,
  { timeoutMs = TIMEOUT_MS, signal }: FetchBounds,
): Promise<ListRead> {
  const answer = await fetchBytes(outbound, { url, maxBytes: MAX_BYTES, timeoutMs, redirects: REDIRECTS, signal })
  if (answer.state === 'failed') return { state: 'refused', reason: `could not be fetched: ${answer.reason}` }
  if (answer.status !== 200) return { state: 'refused', reason: `was answered with ${answer.status}` }
  return readListBytes(answer.body, format)
}
