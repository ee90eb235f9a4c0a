import { existsSync, unwatchFile, watchFile } from 'node:fs'
import { type Certificate, type CertificateFiles, readCertificate } from './certificates.ts'

/** How often the files are looked at; a look is one system call. */
const LOOK_MS = 2_000
/** A renewal writes two files, one after the other. */
const SETTLED_MS = 500

/** The certificates of some files as they are now. */
export interface WatchedCertificates {
  /** Those that can be served; of a pair that cannot be read any more, the last one that could. */
  current(): readonly Certificate[]
  /** Reads these files instead, or the same ones once more. */
  read(files: readonly CertificateFiles[]): Promise<void>
  close(): void
}

export interface CertificateHooks {
  /** One sentence about a pair that cannot be served, or that is past its time. */
  onNotice(message: string): void
  /** Others are served from now on. */
  onChange(): void
}

/** Reads certificates, and again when their files change. Looks at what a link points to, as certbot writes links (D137). */
export async function watchCertificates(
  files: readonly CertificateFiles[],
  { onNotice, onChange }: CertificateHooks,
): Promise<WatchedCertificates> {
  let certificates: readonly Certificate[] = []
  let watched: readonly string[] = []
  let wanted = files
  let settled: NodeJS.Timeout | undefined

  const readOne = async (pair: CertificateFiles): Promise<Certificate | undefined> => {
    const before = certificates.find(({ file }) => file === pair.cert)
    try {
      const read = await readCertificate(pair)
      const until = new Date(read.notAfter).toISOString().slice(0, 10)
      if (read.notAfter < Date.now()) onNotice(`tls: ${pair.cert} has expired on ${until}; it is served all the same`)
      return read
    } catch (error) {
      if (pair.awaited && !existsSync(pair.cert)) return before
      const kept = before === undefined ? '' : '; the one before it is still served'
      onNotice(`${error instanceof Error ? error.message : error}${kept}`)
      return before
    }
  }
  const readAll = async (): Promise<void> => {
    const read = await Promise.all(wanted.map(readOne))
    certificates = read.filter((one) => one !== undefined)
    onChange()
  }
  const changed = (): void => {
    clearTimeout(settled)
    settled = setTimeout(() => void readAll(), SETTLED_MS).unref()
  }
  const unwatch = (): void => {
    for (const file of watched) unwatchFile(file, changed)
  }

  const read = async (next: readonly CertificateFiles[]): Promise<void> => {
    unwatch()
    wanted = next
    watched = next.flatMap(({ cert, key }) => [cert, key])
    for (const file of watched) watchFile(file, { interval: LOOK_MS, persistent: false }, changed)
    await readAll()
  }
  await read(files)
  return {
    current: () => certificates,
    read,
    close() {
      clearTimeout(settled)
      unwatch()
    },
  }
}
