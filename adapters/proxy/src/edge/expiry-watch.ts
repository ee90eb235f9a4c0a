import { DAY_MS } from '@sallyport/core'
import type { RaiseEvent } from '@sallyport/engine'
import { type Certificate, formatDay, inChain } from './certificates.ts'

/** The first notice comes 14 days before the end, or in the last quarter of a short life. */
const SOON_MS = 14 * DAY_MS
const SOON_SHARE = 1 / 4
/** The second notice comes at this time before the end. */
const LAST_MS = 3 * DAY_MS

/** Raises `certificate` when a served certificate expires soon or has expired, and when another replaces it. */
export function watchExpiry(raise: RaiseEvent, now: () => number = Date.now) {
  const said = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined

  /** Takes the certificates that are served from now on. */
  function look(certificates: readonly Certificate[]): void {
    for (const certificate of certificates) {
      const { file, names, notAfter } = certificate
      const text = fault(certificate, now())
      if (text === said.get(file)) continue
      const name = names.length === 0 ? file : `${names.slice(0, 4).join(', ')} (${file})`
      const details = { file, notAfter: new Date(notAfter).toISOString() }
      const over = text === undefined
      const message = `The certificate of ${name} ${text ?? `is valid until ${formatDay(notAfter)}`}.`
      raise({ kind: 'certificate', about: file, ...(over && { over }), text: message, details })
      if (text === undefined) said.delete(file)
      else said.set(file, text)
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
function fault(certificate: Certificate, now: number): string | undefined {
  const { notAfter, ends } = certificate
  const [soon = 0, last = 0] = listMarks(certificate)
  if (now >= notAfter) return inChain(ends, `expired on ${formatDay(notAfter)}`)
  if (now < soon) return undefined
  return inChain(ends, `expires on ${formatDay(notAfter)}${now >= last ? ' and has not been renewed' : ''}`)
}
