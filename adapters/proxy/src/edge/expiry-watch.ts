import { DAY_MS } from '@sallyport/core'
import type { RaiseEvent } from '@sallyport/engine'
import { type Certificate, inChain } from './certificates.ts'

/** A certificate is said to expire in its last 14 days, or in the last quarter of a life that is short. */
const SOON_MS = 14 * DAY_MS
const SOON_SHARE = 1 / 4
/** It is said once more then. */
const LAST_MS = 3 * DAY_MS

/** Raises `certificate` when one that is served expires soon, or has expired, and when another is served in its place. */
export interface ExpiryWatch {
  /** These are served from now on. */
  look(certificates: readonly Certificate[]): void
  close(): void
}

export function watchExpiry(raise: RaiseEvent, now: () => number = Date.now): ExpiryWatch {
  const said = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined

  function look(certificates: readonly Certificate[]): void {
    for (const certificate of certificates) {
      const { file, names, notAfter } = certificate
      const text = fault(certificate, now())
      if (text === said.get(file)) continue
      const name = names.length === 0 ? file : `${names.slice(0, 4).join(', ')} (${file})`
      const details = { file, notAfter: new Date(notAfter).toISOString() }
      if (text !== undefined)
        raise({ kind: 'certificate', about: file, text: `The certificate of ${name} ${text}.`, details })
      else
        raise({
          kind: 'certificate',
          about: file,
          over: true,
          text: `The certificate of ${name} is valid until ${dayOf(notAfter)}.`,
          details,
        })
      if (text === undefined) said.delete(file)
      else said.set(file, text)
    }
    clearTimeout(timer)
    const next = certificates.flatMap((one) => marksOf(one).filter((at) => at > now())).map((at) => at - now())
    // A clock that is set, or a machine that sleeps, is seen within a day.
    if (certificates.length > 0) timer = setTimeout(() => look(certificates), Math.min(DAY_MS, ...next)).unref()
  }
  return { look, close: () => clearTimeout(timer) }
}

/** The times at which there is something to say, the first one first. */
function marksOf({ life, notAfter }: Certificate): readonly number[] {
  const soon = Math.min(SOON_MS, life * SOON_SHARE)
  return [notAfter - soon, notAfter - Math.min(LAST_MS, soon), notAfter]
}

/** The fault of its dates, in words that follow its name; `undefined` where there is none. */
function fault(certificate: Certificate, now: number): string | undefined {
  const { notAfter, ends } = certificate
  const [soon = 0, last = 0] = marksOf(certificate)
  if (now >= notAfter) return inChain(ends, `has expired on ${dayOf(notAfter)}`)
  if (now < soon) return undefined
  return inChain(ends, `expires on ${dayOf(notAfter)}${now >= last ? ', and was not renewed until now' : ''}`)
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}
