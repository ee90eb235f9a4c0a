import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'

/** A share of the lifetime suits all certificates, although lifetimes become shorter from year to year. */
const RENEW_AT = 2 / 3

/** Returns the fault of a chain for a key and some names, as a predicate; `undefined`: none. */
export function certificateFault(chain: string, key: string, names: readonly string[]): string | undefined {
  try {
    const leaf = new X509Certificate(chain)
    if (!leaf.checkPrivateKey(createPrivateKey(key))) return 'does not match its key'
    createSecureContext({ cert: chain, key })
    const held = new Set((leaf.subjectAltName ?? '').split(', ').map((name) => name.replace(/^DNS:/, '').toLowerCase()))
    const missing = names.filter((name) => !held.has(name.toLowerCase()))
    return missing.length === 0 ? undefined : `does not cover ${missing.join(', ')}`
  } catch {
    return 'cannot be read'
  }
}

/** Reports whether a chain has reached the time of its renewal. */
export function isOld(chain: string): boolean {
  const { validFrom, validTo } = new X509Certificate(chain)
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)]
  return Date.now() > from + (to - from) * RENEW_AT
}
