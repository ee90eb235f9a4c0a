import { existsSync, unwatchFile, watchFile } from 'node:fs'
import { SallyportError } from '@sallyport/core'
import type { RaiseEvent } from '@sallyport/engine'
import { type Certificate, type CertificateFiles, dateFault, readCertificate } from './certificates.ts'
import { watchExpiry } from './expiry-watch.ts'

/** How often the files are looked at; a look is one system call. */
const LOOK_MS = 2_000
/** A renewal writes two files, one after the other. */
const SETTLED_MS = 500

/** The certificates of some files as they are now. */
export interface WatchedCertificates {
  /** Those that can be served; of a pair that cannot be read any more, the last one that could. */
  current(): readonly Certificate[]
  /**
   * Reads these files, or the same ones once more; resolves to what has them served. Rejects with `invalid_config` where
   * one pair cannot be served, and then nothing has changed.
   */
  prepare(files: readonly CertificateFiles[]): Promise<() => void>
  close(): void
}

export interface CertificateHooks {
  /** One sentence about a pair that cannot be served, or that clients may refuse. */
  onNotice(message: string): void
  /** Takes what the operator may want to know of at once: certificates that expire soon. */
  readonly raise: RaiseEvent
  /** Others are served from now on. */
  onChange(): void
}

/** A pair that was read, or why it cannot be served. */
type Read = { readonly certificate: Certificate } | { readonly fault: Error }

/**
 * Reads certificates, and again when their files change. Looks at what a link points to, as certbot writes links.
 * Rejects with `cannot_listen` where none can be served and none is awaited; where some can, the others are notices.
 */
export async function watchCertificates(
  files: readonly CertificateFiles[],
  { onNotice, raise, onChange }: CertificateHooks,
): Promise<WatchedCertificates> {
  let certificates: readonly Certificate[] = []
  let wanted: readonly CertificateFiles[] = []
  let settled: NodeJS.Timeout | undefined
  const expiry = watchExpiry(raise)

  const sayFaults = (read: readonly Certificate[]): void => {
    for (const one of read) {
      for (const fault of [dateFault(one), ...one.faults])
        if (fault !== undefined) onNotice(`tls: ${one.file} ${fault}; it is served all the same`)
    }
  }
  /** A pair that is broken leaves the one before it. */
  const take = (pairs: readonly CertificateFiles[], all: readonly Read[]): void => {
    sayFaults(all.flatMap((read) => ('certificate' in read ? [read.certificate] : [])))
    certificates = all.flatMap((read, at) => {
      if ('certificate' in read) return [read.certificate]
      const pair = pairs[at] as CertificateFiles
      const before = certificates.find(({ file }) => file === pair.cert)
      if (!isAwaited(pair)) onNotice(`${read.fault.message}${before === undefined ? '' : KEPT}`)
      return before === undefined ? [] : [before]
    })
    expiry.look(certificates)
    onChange()
  }
  const readAgain = async (): Promise<void> => {
    const pairs = wanted
    const all = await Promise.all(pairs.map(readPair))
    // A reload may have named others meanwhile.
    if (pairs === wanted) take(pairs, all)
  }
  const changed = (): void => {
    clearTimeout(settled)
    settled = setTimeout(() => void readAgain(), SETTLED_MS).unref()
  }
  const unwatch = (): void => {
    for (const file of filesOf(wanted)) unwatchFile(file, changed)
  }
  const watch = (next: readonly CertificateFiles[]): void => {
    unwatch()
    wanted = next
    for (const file of filesOf(next)) watchFile(file, { interval: LOOK_MS, persistent: false }, changed)
  }

  const first = await Promise.all(files.map(readPair))
  if (first.every((read) => 'fault' in read) && !files.some(({ awaited }) => awaited)) throw nothingToServe(first[0])
  watch(files)
  take(files, first)
  return {
    current: () => certificates,
    async prepare(next) {
      const all = await Promise.all(next.map(readPair))
      const read = all.flatMap((one, at) => {
        if ('certificate' in one) return [one.certificate]
        // The authority's own is ours to mend: a look orders another.
        if (next[at]?.awaited !== true) throw one.fault
        return certificates.filter(({ file }) => file === next[at]?.cert)
      })
      return () => {
        watch(next)
        certificates = read
        sayFaults(read)
        expiry.look(read)
        onChange()
      }
    },
    close() {
      clearTimeout(settled)
      expiry.close()
      unwatch()
    },
  }
}

const KEPT = '; the one before it is still served'

async function readPair(pair: CertificateFiles): Promise<Read> {
  try {
    return { certificate: await readCertificate(pair) }
  } catch (error) {
    return { fault: error instanceof Error ? error : new Error(String(error)) }
  }
}

function nothingToServe(first: Read | undefined): SallyportError {
  const why = first !== undefined && 'fault' in first ? first.fault.message : 'tls: there is no certificate to serve'
  return new SallyportError('cannot_listen', why)
}

/** Nothing is said of one that is not there yet. */
function isAwaited({ awaited = false, cert }: CertificateFiles): boolean {
  return awaited && !existsSync(cert)
}

function filesOf(pairs: readonly CertificateFiles[]): readonly string[] {
  return pairs.flatMap(({ cert, key }) => [cert, key])
}
