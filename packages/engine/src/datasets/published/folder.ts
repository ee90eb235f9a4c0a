import { createPublicKey, hash, type KeyObject, randomUUID, verify } from 'node:crypto'
import { createReadStream, readFileSync, statSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { SallyportError } from '@sallyport/core'
import { makeFolder, OWN_FILE, OWN_FOLDER, writeThrough } from '#files'
import { moveInto, replaceFile, stampOf } from '../sources/replace-file.ts'
import { type BundleFile, type Manifest, parseManifest } from './manifest.ts'

export const MANIFEST = 'manifest.json'

/** A manifest with what was signed. */
export interface SignedManifest {
  readonly manifest: Manifest
  readonly bytes: Uint8Array
  readonly signature: Uint8Array
  /** SHA-256 of the bytes, hexadecimal: its signature is the file of this name and `.sig`. */
  readonly digest: string
}

/**
 * A folder with a bundle: a publisher's, which any web server hands out, or a reader's copy of it. Files are there before
 * the manifest that names them, so that a reader of a manifest finds all of it.
 */
export interface BundleFolder {
  /** The manifest that is there, where this key has signed it. */
  held(key: KeyObject): SignedManifest | undefined
  pathOf(file: BundleFile): string
  isThere(file: BundleFile): boolean
  /** A path to write one file to, before it is taken in. */
  temporary(): string
  /** Takes in a file that was written whole, and that is on the disk. */
  takeFile(temporary: string, file: BundleFile): Promise<void>
  /** Copies a file into it, unless it is there. */
  copyFile(from: string, file: BundleFile): Promise<void>
  /** Takes a manifest into use, and removes what neither it nor the one before names. */
  take(signed: SignedManifest): Promise<void>
  /** Changes with the manifest. */
  revision(): string
}

/** A small file of a bundle. */
interface SmallFile {
  readonly name: string
  readonly content: Uint8Array
  readonly bytes: number
  readonly sha256: string
}

const SIGNATURE_BYTES = 64
/** A temporary file this old is of a process that died. */
const ABANDONED_MS = 3_600_000

interface Rights {
  readonly folder: number
  readonly file: number
}

const OWN: Rights = { folder: OWN_FOLDER, file: OWN_FILE }
/** A folder that a web server reads. */
export const PUBLIC: Rights = { folder: 0o755, file: 0o644 }

export function openBundleFolder(folder: string, rights: Rights = OWN): BundleFolder {
  const manifestPath = join(folder, MANIFEST)
  const pathOf = ({ sha256 }: BundleFile) => join(folder, sha256)
  const isThere = (file: BundleFile) => statSync(pathOf(file), { throwIfNoEntry: false })?.size === file.bytes
  const temporary = () => {
    makeFolder(folder, rights.folder)
    return join(folder, `${randomUUID()}.part`)
  }
  const takeFile = (from: string, file: BundleFile) => moveInto(from, pathOf(file))
  return {
    held: (key) => heldIn(folder, key),
    pathOf,
    isThere,
    temporary,
    takeFile,
    async copyFile(from, file) {
      if (isThere(file)) return
      const copy = temporary()
      try {
        await writeThrough(copy, (to) => pipeline(createReadStream(from), to), rights.file)
        await takeFile(copy, file)
      } finally {
        await rm(copy, { force: true })
      }
    },
    async take(signed) {
      makeFolder(folder, rights.folder)
      const kept = new Set([...namedIn(folder), ...namesOf(signed)])
      for (const { name, content } of signedFiles(signed)) await replaceFile(join(folder, name), content, rights.file)
      await removeOthers(folder, kept)
    },
    revision: () => stampOf(manifestPath),
  }
}

/** The public half of a publisher's key, 32 bytes as base64url; `undefined` where it is none. */
export function publicKeyOf(text: string): KeyObject | undefined {
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: text }, format: 'jwk' })
  } catch {
    return undefined
  }
}

/** Throws `corrupt_data` unless the key has signed these bytes. `text` is base64. */
export function signatureOf(text: string, bytes: Uint8Array, key: KeyObject): Buffer {
  const signature = Buffer.from(text.trim(), 'base64')
  if (signature.length === SIGNATURE_BYTES && verify(null, bytes, key, signature)) return signature
  throw new SallyportError('corrupt_data', 'its signature is not of data.fromKey')
}

/** The signature and the manifest as files, in the order in which they are written (D577). */
export function signedFiles({ digest, bytes, signature }: Omit<SignedManifest, 'manifest'>): readonly SmallFile[] {
  const text = Buffer.from(`${Buffer.from(signature).toString('base64')}\n`)
  return [
    { name: `${digest}.sig`, content: text, bytes: text.length, sha256: digestOf(text) },
    { name: MANIFEST, content: bytes, bytes: bytes.length, sha256: digest },
  ]
}

export function digestOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex')
}

function heldIn(folder: string, key: KeyObject): SignedManifest | undefined {
  try {
    const bytes = readFileSync(join(folder, MANIFEST))
    const digest = digestOf(bytes)
    const signature = signatureOf(readFileSync(join(folder, `${digest}.sig`), 'latin1'), bytes, key)
    return { manifest: parseManifest(bytes), bytes, signature, digest }
  } catch (error) {
    if (error instanceof SallyportError || (error instanceof Error && 'syscall' in error)) return undefined
    throw error
  }
}

/** The names of the files that the manifest of a folder rests on, under any signature. */
function namedIn(folder: string): readonly string[] {
  try {
    const bytes = readFileSync(join(folder, MANIFEST))
    return namesOf({ digest: digestOf(bytes), manifest: parseManifest(bytes) })
  } catch {
    return []
  }
}

function namesOf({ digest, manifest }: Pick<SignedManifest, 'digest' | 'manifest'>): readonly string[] {
  return [`${digest}.sig`, ...manifest.files.map(({ sha256 }) => sha256)]
}

/** Files of other names are not ours to remove. */
const OURS = /^[0-9a-f]{64}(\.sig)?$/

async function removeOthers(folder: string, kept: ReadonlySet<string>): Promise<void> {
  const now = Date.now()
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now
    const isAbandoned = /\.(part|tmp)$/.test(name) && now - written > ABANDONED_MS
    if (isAbandoned || (OURS.test(name) && !kept.has(name))) await rm(path, { force: true })
  }
}
