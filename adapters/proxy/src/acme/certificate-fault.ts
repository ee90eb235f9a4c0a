import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'

/** Lifetimes become shorter from year to year: a share of them is right for all. */
const RENEW_AT = 2 / 3

/** Returns the fault of a chain for a key and some names, as a predicate; `undefined`: none. */
export function certificateFault(chain: string, key: string, names: readonly string[]): string | undefined {
  try {
    const leaf = new X509Certificate(chain)
    if (!leaf.checkPrivateKey(createPrivateKey(key))) return 'does not fit its key'
    createSecureContext({ cert: chain, key })
    const held = new Set((leaf.subjectAltName ?? '').split(', ').map((name) => name.replace(/^DNS:/, '').toLowerCase()))
    const missing = names.filter((name) => !held.has(name.toLowerCase()))
    return missing.length === 0 ? undefined : `is not for ${missing.join(', ')}`
  } catch {
    return 'cannot be read'
  }
}

/** Whether a chain is past the time at which it is renewed. */
export function isOld(chain: string): boolean {
  const { validFrom, validTo } = new X509Certificate(chain)
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)]
  return Date.now() > from + (to - from) * RENEW_AT
}
