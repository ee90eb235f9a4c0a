import { existsSync, unwatchFile, watchFile } from 'node:fs'
import { SallyportError } from '@sallyport/core'
import type { RaiseEvent } from '@sallyport/engine'
import { type Certificate, type CertificateFiles, dateFault, readCertificate } from './certificates.ts'
import { watchExpiry } from './expiry-watch.ts'

/** Pause between two checks of the files; a check is one system call. */
const LOOK_MS = 2_000
/** A renewal writes two files, one after the other. */
const SETTLED_MS = 500

export type WatchedCertificates = Awaited<ReturnType<typeof watchCertificates>>

export interface CertificateHooks {
  /** Takes one sentence about a pair that cannot be served, or that clients may refuse. */
  onNotice(message: string): void
  /** Takes an event that the operator may want to know of at once: certificates that expire soon. */
  readonly raise: RaiseEvent
  /** Called when other certificates are served. */
  onChange(): void
}

/** A pair that was read, or the reason why it cannot be served. */
type Read = { readonly certificate: Certificate } | { readonly fault: Error }

/**
 * Reads certificates, and again when their files change. Follows links, because certbot writes links. Rejects with `cannot_listen` where no
 * pair can be served and none is awaited; where some pair can, the others are notices.
 */
export async function watchCertificates(
  files: readonly CertificateFiles[],
  { onNotice, raise, onChange }: CertificateHooks,
) {
  let certificates: readonly Certificate[] = []
  let wanted: readonly CertificateFiles[] = []
  let settled: NodeJS.Timeout | undefined
  const expiry = watchExpiry(raise)

  const serve = (next: readonly Certificate[]): void => {
    certificates = next
    for (const one of next) {
      for (const fault of [dateFault(one), ...one.faults])
        if (fault !== undefined) onNotice(`tls: ${one.file} ${fault}. The proxy serves it anyway`)
    }
    expiry.look(next)
    onChange()
  }
  const findServed = (pair: CertificateFiles) => certificates.find(({ file }) => file === pair.cert)
  /** Serves the pairs; a broken pair keeps the certificate before it. */
  const take = (pairs: readonly CertificateFiles[], all: readonly Read[]): void => {
    const next = all.map((read, at) => {
      if ('certificate' in read) return read.certificate
      const pair = pairs[at] as CertificateFiles
      const before = findServed(pair)
      if (!isAwaited(pair)) onNotice(`${read.fault.message}${before === undefined ? '' : KEPT}`)
      return before
    })
    serve(next.filter((one) => one !== undefined))
  }
  const readAgain = async (): Promise<void> => {
    const pairs = wanted
    const all = await Promise.all(pairs.map(readPair))
    // A reload may have named other files meanwhile.
    if (pairs === wanted) take(pairs, all)
  }
  const readSoon = (): void => {
    clearTimeout(settled)
    settled = setTimeout(() => void readAgain(), SETTLED_MS).unref()
  }
  const unwatch = (): void => {
    for (const file of listFiles(wanted)) unwatchFile(file, readSoon)
  }
  const watch = (next: readonly CertificateFiles[]): void => {
    unwatch()
    wanted = next
    for (const file of listFiles(next)) watchFile(file, { interval: LOOK_MS, persistent: false }, readSoon)
  }

  const first = await Promise.all(files.map(readPair))
  if (first.every((read) => 'fault' in read) && !files.some(({ awaited }) => awaited)) throw nothingToServe(first[0])
  watch(files)
  take(files, first)
  return {
    /** Returns the certificates that can be served; a pair that can no longer be read keeps its last state. */
    current: () => certificates,
    /**
     * Reads these files, or the same files again; resolves to a function that serves them. Rejects with `invalid_config` where one pair
     * cannot be served, and then nothing has changed.
     */
    async prepare(next: readonly CertificateFiles[]): Promise<() => void> {
      const all = await Promise.all(next.map(readPair))
      const read = all.map((one, at) => {
        if ('certificate' in one) return one.certificate
        const pair = next[at] as CertificateFiles
        // The authority's certificate is ours to mend: a check orders another.
        if (pair.awaited !== true) throw one.fault
        return findServed(pair)
      })
      return () => {
        watch(next)
        serve(read.filter((one) => one !== undefined))
      }
    },
    close(): void {
      clearTimeout(settled)
      expiry.close()
      unwatch()
    },
  }
}

const KEPT = '. The previous certificate is still served'

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

/** Reports whether a pair may still be missing, without a notice. */
function isAwaited({ awaited = false, cert }: CertificateFiles): boolean {
  return awaited && !existsSync(cert)
}

function listFiles(pairs: readonly CertificateFiles[]): readonly string[] {
  return pairs.flatMap(({ cert, key }) => [cert, key])
}
