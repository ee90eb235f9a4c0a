import { readFile } from 'node:fs/promises'
import { type Fetch, type FetchRequest, fetchText, isRecord, SallyportError } from '@sallyport/core'
import { replaceFile } from '#files'
import { tryJson } from '../parse/json-paths.ts'
import type { Feed } from '../sources/feed-state.ts'

/** An index may name so many files, and take so many bytes. */
const MAX_FILES = 64
const MAX_INDEX_BYTES = 2 ** 20

/**
 * Replaces an index at `path` by one document that holds the files it names, under its names for them. Requests the files beside the index,
 * whatever folder it writes, and never from another host. Leaves out a file that is gone. A document that names no files is the list
 * itself. Returns why a file could not be fetched.
 */
export async function followIndex(
  path: string,
  { row, url }: Feed,
  outbound: Fetch,
  { maxBytes, ...bounds }: Pick<FetchRequest, 'maxBytes' | 'timeoutMs' | 'signal'>,
): Promise<string | undefined> {
  const named = namedFiles(await readFile(path), row.index)
  if (named.length === 0) return undefined
  if (named.length > MAX_FILES) throw new SallyportError('corrupt_data', `the index names more than ${MAX_FILES} files`)
  const parts: string[] = []
  let left = maxBytes
  for (const [name, file] of named) {
    const at = new URL(encodeURIComponent(file), url).href
    const answer = await fetchText(outbound, { ...bounds, url: at, maxBytes: left, redirects: 0 })
    if (answer.state === 'failed') return `${file} of the index: ${answer.reason}`
    if (answer.status === 404) continue
    if (answer.status !== 200) return `${file} of the index: the server responded with status ${answer.status}`
    left -= Buffer.byteLength(answer.body)
    parts.push(`${JSON.stringify(name)}:${answer.body}`)
  }
  if (parts.length === 0) return 'no file that the index names exists'
  await replaceFile(path, `{${parts.join(',\n')}}\n`)
  return undefined
}

/** Lists the names and files of an index. Of a path only the last part counts. */
function namedFiles(bytes: Buffer, member: string | undefined): readonly (readonly [name: string, file: string])[] {
  if (member === undefined || bytes.length > MAX_INDEX_BYTES) return []
  const index = tryJson(bytes.toString('utf8'))
  return Object.entries(isRecord(index) ? index : {}).flatMap(([name, entry]) => {
    const path = isRecord(entry) ? entry[member] : undefined
    const file = typeof path === 'string' ? path.slice(path.lastIndexOf('/') + 1) : ''
    return file === '' || file === '.' || file === '..' ? [] : [[name, file] as const]
  })
}
