import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { challengeFiles } from './challenge-files.ts'
import { type AcmeOptions, acmeFiles, orderCertificate } from './order.ts'

/** Lifetimes become shorter from year to year: a share of them is right for all. */
const RENEW_AT = 2 / 3
const LOOK_MS = 3_600_000
/** After a failure; it doubles. Authorities take five failures of a name in an hour. */
const FIRST_PAUSE_MS = 600_000
const LONGEST_PAUSE_MS = 86_400_000

export interface Renewal {
  /** The first look has come to an end, whatever it was. */
  readonly ready: Promise<void>
  close(): void
}

/** Where challenges are, within the folder of an account. */
export function challengeFolder(folder: string): string {
  return join(folder, 'challenges')
}

/** Keeps the certificate of a folder: ordered where it is missing or has other names, and at two thirds of its life. */
export function keepCertificate(folder: string, options: AcmeOptions, onNotice: (message: string) => void): Renewal {
  const challenges = challengeFiles(challengeFolder(folder))
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let pause = FIRST_PAUSE_MS

  const look = async (): Promise<void> => {
    let next = LOOK_MS
    try {
      if (await isDue(acmeFiles(folder).cert, options.domains)) {
        await orderCertificate(folder, options, challenges)
        onNotice(`tls.acme: a certificate for ${options.domains.join(', ')} was issued`)
      }
      pause = FIRST_PAUSE_MS
    } catch (error) {
      next = pause
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
      const why = (error instanceof Error ? error.message : String(error)).split('\n', 1)[0]
      onNotice(
        `tls.acme: no certificate for ${options.domains.join(', ')}: ${why}; tried again in ${next / 60_000} min`,
      )
    }
    if (!closed) timer = setTimeout(() => void look(), next).unref()
  }
  return {
    ready: look(),
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}

async function isDue(file: string, domains: readonly string[]): Promise<boolean> {
  try {
    const { validFrom, validTo, subjectAltName = '' } = new X509Certificate(await readFile(file))
    const names = new Set(subjectAltName.split(', ').map((name) => name.replace(/^DNS:/, '')))
    const [from, to] = [Date.parse(validFrom), Date.parse(validTo)]
    return Date.now() > from + (to - from) * RENEW_AT || !domains.every((name) => names.has(name.toLowerCase()))
  } catch {
    return true
  }
}
