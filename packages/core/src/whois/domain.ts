import { parse } from 'tldts'
import { parseHostname } from '../address/hostname.ts'

/** Holds a name that registries sell, and its last label. */
export interface RegistrableDomain {
  /** The name has A-labels in lower case: the label below the public suffix, and the suffix. */
  readonly domain: string
  readonly tld: string
}

/**
 * Returns the registered domain above a name, by the Public Suffix List's part for registries; `undefined` for a text that
 * is no public hostname, or is a suffix itself (`co.uk`, `com`). Hosts of companies that give out names below their own
 * (`github.io`) are domains like any other.
 */
export function registrableDomain(text: string): RegistrableDomain | undefined {
  const host = parseHostname(text)
  if (host === undefined) return undefined
  const { domain } = parse(host, { allowPrivateDomains: false, validateHostname: false, extractHostname: false })
  return domain === null ? undefined : { domain, tld: domain.slice(domain.lastIndexOf('.') + 1) }
}
