import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { DAY_MS, errorCode } from '@sallyport/core'
import type { RaiseEvent } from '@sallyport/engine'
import { type AuthorityBounds, AuthorityFault, BOUNDS, describeFault, openAuthority } from './authority.ts'
import { certificateFault, isOld } from './certificate-fault.ts'
import { type AcmeKeys, acmeFiles, orderCertificate } from './order.ts'

/** A check reads only two files. */
const LOOK_MS = 5_000
/** Pause after a failure; it doubles. Authorities permit five failures of a name in an hour. */
const FIRST_PAUSE_MS = 600_000
/** Pause after a certificate was issued; it grows, because authorities issue few certificates for the same names in a week. */
const ISSUED_PAUSE = { first: LOOK_MS, factor: 12 }
/** Limits the time of one order. */
const ORDER_MS = 900_000

export interface RenewalHooks {
  onNotice(message: string): void
  /** Takes an event that the operator may want to know of at once. */
  readonly raise?: RaiseEvent | undefined
}

/**
 * Keeps the certificate of a folder current: orders another where the certificate or its key is missing, where they do not fit each other,
 * where the names differ, and at two thirds of its life. The returned function aborts what is in progress, and resolves when nothing of it
 * is left.
 */
export function keepCertificate(
  acme: AcmeKeys,
  { onNotice, raise = () => {} }: RenewalHooks,
  bounds: AuthorityBounds = BOUNDS,
): () => Promise<void> {
  const { domains, directory, ca } = acme
  const files = acmeFiles(acme.folder)
  const names = domains.join(', ')
  const about = `tls.acme ${names}`
  const closing = new AbortController()
  let timer: NodeJS.Timeout | undefined
  // The monotonic clock counts: a change of the time of day ends no pause.
  let notBefore = 0
  let pause = FIRST_PAUSE_MS
  let issuedPause = ISSUED_PAUSE.first
  let issuedAt = Number.NEGATIVE_INFINITY

  const order = async (): Promise<void> => {
    const late = AbortSignal.timeout(ORDER_MS)
    const signal = AbortSignal.any([closing.signal, late])
    const authority = await openAuthority({ directory, ca, signal }, bounds)
    try {
      await orderCertificate(acme, { authority, signal })
    } catch (error) {
      throw late.aborted ? new AuthorityFault(`the order took more than ${ORDER_MS / 60_000} min`) : error
    } finally {
      await authority.close()
    }
    onNotice(`tls.acme: a certificate for ${names} was issued`)
    raise({ kind: 'certificate', about, over: true, text: `A certificate for ${names} was issued.` })
    issuedAt = performance.now()
    notBefore = issuedAt + issuedPause
    issuedPause = Math.min(issuedPause * ISSUED_PAUSE.factor, DAY_MS)
    pause = FIRST_PAUSE_MS
    if ((await dueFor(files, domains)) === undefined) return
    throw new AuthorityFault('by the clock of this machine, the new certificate is already due for renewal')
  }
  const look = async (): Promise<void> => {
    try {
      if (performance.now() - issuedAt > DAY_MS) issuedPause = ISSUED_PAUSE.first
      const due = performance.now() < notBefore ? undefined : await dueFor(files, domains)
      if (due?.said === true) onNotice(`tls.acme: ${files.cert} ${due.why}; ordering a new certificate`)
      if (due !== undefined) await order()
    } catch (error) {
      if (closing.signal.aborted) return
      const wait = Math.min(Math.max(pause, (error instanceof AuthorityFault && error.retryAfterMs) || 0), DAY_MS)
      notBefore = performance.now() + wait
      pause = Math.min(pause * 2, DAY_MS)
      const text = `No certificate for ${names} could be obtained: ${describeFault(error)}.`
      raise({ kind: 'certificate', about, text })
      onNotice(
        `tls.acme: no certificate for ${names}: ${describeFault(error)}; next attempt in ${Math.ceil(wait / 60_000)} min`,
      )
    }
    if (!closing.signal.aborted) timer = setTimeout(next, LOOK_MS).unref()
  }
  let last = look()
  function next(): void {
    last = look()
  }
  return async () => {
    closing.abort()
    clearTimeout(timer)
    await last
  }
}

/**
 * Returns why a certificate must be ordered, and whether a notice precedes the order, because something was lost. Rejects where a file
 * exists but cannot be read now, which is no reason to order.
 */
async function dueFor(files: { readonly cert: string; readonly key: string }, names: readonly string[]) {
  const [chain, key] = await Promise.all([readText(files.cert), readText(files.key)])
  if (chain === undefined) return { why: 'is missing', said: false }
  if (key === undefined) return { why: 'has no key file', said: true }
  const fault = certificateFault(chain, key, names)
  if (fault !== undefined) return { why: fault, said: true }
  return isOld(chain) ? { why: 'is at two thirds of its life', said: false } : undefined
}

/** Returns `undefined` for a missing file. */
async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT') return undefined
    throw new Error(`${file} cannot be read (${code})`)
  }
}

/** Renews what is configured, which a reload may change; a process may be asked to order later. */
export function createRenewals(hooks: RenewalHooks, first?: AcmeKeys) {
  let wanted = first
  let orders = false
  let closed = false
  let current: { readonly acme: AcmeKeys; readonly close: () => Promise<void> } | undefined
  let ended: Promise<void> = Promise.resolve()

  const adopt = (): void => {
    const next = wanted !== undefined && (wanted.orders || orders) && !closed ? wanted : undefined
    if (isDeepStrictEqual(next, current?.acme)) return
    if (current !== undefined) ended = Promise.all([ended, current.close()]).then(() => {})
    current = next && { acme: next, close: keepCertificate(next, hooks) }
  }
  adopt()
  return {
    keep(acme: AcmeKeys | undefined): void {
      wanted = acme
      adopt()
    },
    /** Makes this process order from now on, whatever the options say. */
    order(): void {
      orders = true
      adopt()
    },
    async close(): Promise<void> {
      closed = true
      adopt()
      await ended
    },
  }
}
