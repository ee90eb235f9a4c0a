import { existsSync, unwatchFile, watchFile } from 'node:fs'
import { DAY_MS, SallyportError } from '@sallyport/core'
import type { RaiseEvent } from '@sallyport/engine'
import {
  type Certificate,
  type CertificateFiles,
  dateFault,
  formatDay,
  inChain,
  readCertificate,
} from './certificates.ts'

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
  const take = (pairs: readonly CertificateFiles[], all: readonly Read[]): void => {
    const served = keepServed(certificates, pairs, all, ({ message }, { awaited, cert }, kept) => {
      if (!awaited || existsSync(cert)) onNotice(kept === undefined ? message : message + KEPT)
    })
    serve(served)
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
      const served = keepServed(certificates, next, all, (fault, { awaited }) => {
        // The authority's certificate is ours to mend: a check orders another.
        if (!awaited) throw fault
      })
      return () => {
        watch(next)
        serve(served)
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

/** Returns what to serve of these pairs; a broken pair keeps the certificate `before` it, and `onFault` hears of the pair. */
function keepServed(
  before: readonly Certificate[],
  pairs: readonly CertificateFiles[],
  all: readonly Read[],
  onFault: (fault: Error, pair: CertificateFiles, kept: Certificate | undefined) => void,
): readonly Certificate[] {
  const served = all.map((read, at) => {
    if ('certificate' in read) return read.certificate
    const pair = pairs[at] as CertificateFiles
    const kept = before.find(({ file }) => file === pair.cert)
    onFault(read.fault, pair, kept)
    return kept
  })
  return served.filter((one) => one !== undefined)
}

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

function listFiles(pairs: readonly CertificateFiles[]): readonly string[] {
  return pairs.flatMap(({ cert, key }) => [cert, key])
}

/** The first notice comes 14 days before the end, or in the last quarter of a short life. */
const SOON_MS = 14 * DAY_MS
const SOON_SHARE = 1 / 4
/** The second notice comes at this time before the end. */
const LAST_MS = 3 * DAY_MS

/** Raises `certificate` when a served certificate expires soon or has expired, and when another replaces it. */
export function watchExpiry(raise: RaiseEvent, now: () => number = Date.now) {
  const texts = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined

  /** Takes the certificates that are served from now on. */
  function look(certificates: readonly Certificate[]): void {
    for (const certificate of certificates) {
      const { file, names, notAfter } = certificate
      const text = describeDates(certificate, now())
      if (text === texts.get(file)) continue
      const name = names.length === 0 ? file : `${names.slice(0, 4).join(', ')} (${file})`
      const details = { file, notAfter: new Date(notAfter).toISOString() }
      const over = text === undefined
      const message = `The certificate of ${name} ${text ?? `is valid until ${formatDay(notAfter)}`}.`
      raise({ kind: 'certificate', about: file, ...(over && { over }), text: message, details })
      if (text === undefined) texts.delete(file)
      else texts.set(file, text)
    }
    clearTimeout(timer)
    const next = certificates.flatMap((one) => listMarks(one).filter((at) => at > now())).map((at) => at - now())
    // A change of the clock, or a sleep of the machine, is noticed within a day.
    if (certificates.length > 0) timer = setTimeout(() => look(certificates), Math.min(DAY_MS, ...next)).unref()
  }
  return { look, close: () => clearTimeout(timer) }
}

/** Lists the times of notices, the first one first. */
function listMarks({ life, notAfter }: Certificate): readonly number[] {
  const soon = Math.min(SOON_MS, life * SOON_SHARE)
  return [notAfter - soon, notAfter - Math.min(LAST_MS, soon), notAfter]
}

/** Describes the fault of a certificate's dates, to follow its name; `undefined` where the dates are good. */
function describeDates(certificate: Certificate, now: number): string | undefined {
  const { notAfter, ends } = certificate
  const [soon = 0, last = 0] = listMarks(certificate)
  if (now >= notAfter) return inChain(ends, `expired on ${formatDay(notAfter)}`)
  if (now < soon) return undefined
  return inChain(ends, `expires on ${formatDay(notAfter)}${now >= last ? ' and has not been renewed' : ''}`)
}
