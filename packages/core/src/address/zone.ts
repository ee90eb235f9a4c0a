import { type Address, parseAddress } from './address.ts'

/**
 * The address that `text` is, by the rules of `parseAddress`. Sockets and proxies name the interface behind a link-local one
 * (`fe80::1%eth0`, RFC 4007 section 11): it is no part of the address, and says nothing behind any other.
 */
export function parseZoned(text: string): Address | undefined {
  const zone = text.indexOf('%')
  if (zone < 0 || zone === text.length - 1) return parseAddress(text)
  const address = parseAddress(text.slice(0, zone))
  return address !== undefined && isLinkLocal(address) ? address : undefined
}

/** Whether it is in fe80::/10. */
function isLinkLocal({ family, a }: Address): boolean {
  return family === 6 && a >>> 22 === 0x3fa
}
