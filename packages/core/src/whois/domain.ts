import { parse } from 'tldts'
import { parseHostname } from '../address/hostname.ts'

/** A name as registries sell it. */
export interface RegistrableDomain {
  /** A-labels, lower case: the label below the public suffix, and the suffix. */
  readonly domain: string
  /** The last label. */
  readonly tld: string
}

/**
 * The domain that was registered so that this name can be, by the Public Suffix List's part for registries, or
 * `undefined` for what is no public hostname or is a suffix itself (`co.uk`, `com`). Hosts of companies that give out
 * names below their own (`github.io`) are domains like any other.
 */
export function registrableDomain(text: string): RegistrableDomain | undefined {
  const host = parseHostname(text)
  if (host === undefined) return undefined
  const { domain } = parse(host, { allowPrivateDomains: false, validateHostname: false, extractHostname: false })
  return domain === null ? undefined : { domain, tld: domain.slice(domain.lastIndexOf('.') + 1) }
}
