import { createHash, type KeyObject } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Clock, dropBody, type Fetch, type FetchRequest, fetchBytes, SallyportError } from '@sallyport/core'
import { writeThrough } from '#files'
import { type BundleFolder, digestOf, MANIFEST, type SignedManifest, signatureOf } from './folder.ts'
import {
  type BundleFile,
  MAX_MANIFEST_BYTES,
  type Manifest,
  neededFiles,
  parseManifest,
  refused,
  requireUsable,
} from './manifest.ts'

/**
 * How asking a publisher ended. `refused`: what it has is not to be used. `failed`: it could not be asked, or not for all of
 * it. In both cases nothing has changed but files that are kept for the next time.
 */
export type Pulled =
  | { readonly state: 'updated'; readonly fetched: number; readonly etag?: string | undefined }
  | { readonly state: 'unchanged' }
  | { readonly state: 'refused' | 'failed'; readonly reason: string }

export interface PullOptions {
  /** URL of the folder. */
  readonly from: string
  readonly key: KeyObject
  readonly folder: BundleFolder
  /** Whether the files of places are wanted. */
  readonly city: boolean
  /** The ETag of the manifest that is held. */
  readonly etag?: string | undefined
  readonly outbound: Fetch
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
  readonly onBytes?: ((bytes: number, total: number) => void) | undefined
}

const MAX_SIGNATURE_BYTES = 1_024
const SMALL_MS = 15_000
const FILE_MS = 900_000
const REDIRECTS = 3

/** The publisher could not be asked, or its answer did not arrive whole. */
class Unanswered extends Error {}

/** Asks for the manifest, and fetches those files that are not there yet. Never rejects. */
export async function pullBundle(options: PullOptions): Promise<Pulled> {
  try {
    return await pull(options)
  } catch (error) {
    const state = error instanceof SallyportError ? 'refused' : 'failed'
    return { state, reason: error instanceof Error ? error.message : String(error) }
  }
}

/** The files of a manifest that are needed and not there. */
export function missingFiles({ folder, city }: Pick<PullOptions, 'folder' | 'city'>, manifest: Manifest) {
  return neededFiles(manifest, city).filter((file) => !folder.isThere(file))
}

async function pull(options: PullOptions): Promise<Pulled> {
  const { folder, key, clock } = options
  const held = folder.held(key)
  const isWhole = held !== undefined && missingFiles(options, held.manifest).length === 0
  const etag = isWhole ? options.etag : undefined
  const headers = etag === undefined ? {} : { 'if-none-match': etag }
  const answer = await ask(options, MANIFEST, MAX_MANIFEST_BYTES, headers)
  if (answer === undefined) return { state: 'unchanged' }
  const digest = digestOf(answer.body)
  const signed = held?.digest === digest ? held : await verified(options, answer.body, digest)
  requireUsable(signed.manifest, clock.now())
  if (held !== undefined) requireLater(signed, held)
  const missing = missingFiles(options, signed.manifest)
  for (const file of missing) await fetchFile(options, file)
  const isNew = signed !== held
  if (isNew) await folder.take(signed)
  const tag = answer.headers['etag']
  return isNew || missing.length > 0 ? { state: 'updated', fetched: missing.length, etag: tag } : { state: 'unchanged' }
}

async function verified(options: PullOptions, bytes: Uint8Array, digest: string): Promise<SignedManifest> {
  const answer = await ask(options, `${digest}.sig`, MAX_SIGNATURE_BYTES)
  const signature = signatureOf(Buffer.from(answer?.body ?? []).toString('latin1'), bytes, options.key)
  return { manifest: parseManifest(bytes), bytes, signature, digest }
}

/** A publisher's answer from before would take away what was learnt since. */
function requireLater({ manifest, digest }: SignedManifest, held: SignedManifest): void {
  const { version } = manifest
  if (version > held.manifest.version || digest === held.digest) return
  throw refused(`it is version ${version}, and version ${held.manifest.version} is in use`)
}

/** A whole small answer; `undefined` where it has not changed. */
async function ask(options: PullOptions, name: string, maxBytes: number, headers: FetchRequest['headers'] = {}) {
  const { outbound, signal } = options
  const request = { url: urlOf(options, name), maxBytes, timeoutMs: SMALL_MS, redirects: REDIRECTS, headers, signal }
  const answer = await fetchBytes(outbound, request)
  if (answer.state === 'failed') throw new Unanswered(answer.reason)
  if (answer.status === 304) return undefined
  if (answer.status !== 200) throw unanswered(name, answer.status)
  return answer
}

async function fetchFile(options: PullOptions, file: BundleFile): Promise<void> {
  const { outbound, folder, signal, onBytes } = options
  const { name, bytes, sha256 } = file
  const url = urlOf(options, sha256)
  const answer = await outbound.fetch({ url, maxBytes: bytes, timeoutMs: FILE_MS, redirects: REDIRECTS, signal })
  if (answer.state === 'failed') throw new Unanswered(answer.reason)
  if (answer.status !== 200) {
    await dropBody(answer)
    throw unanswered(name, answer.status)
  }
  const hash = createHash('sha256')
  let size = 0
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      size += chunk.length
      onBytes?.(size, bytes)
      done(null, chunk)
    },
  })
  const temporary = folder.temporary()
  try {
    await writeThrough(temporary, (to) => pipeline(Readable.from(answer.body), hashing, to))
    if (size !== bytes || hash.digest('hex') !== sha256) throw refused(`${name} is not the file that was signed`)
    await folder.takeFile(temporary, file)
  } finally {
    await rm(temporary, { force: true })
  }
}

/** A manifest without what it rests on was not written as it should be, or not to its end. */
function unanswered(name: string, status: number): Error {
  if (status === 404 && name !== MANIFEST) return refused(`it is half-written: ${name} is not there`)
  return new Unanswered(`the server answered ${status} for ${name}`)
}

/** The URL of the manifest below `data.from`. */
export function manifestUrl(from: string): string {
  return urlOf({ from }, MANIFEST)
}

function urlOf({ from }: Pick<PullOptions, 'from'>, name: string): string {
  return `${from}${from.endsWith('/') ? '' : '/'}${name}`
}
