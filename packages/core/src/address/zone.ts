import { type Address, parseAddress } from './address.ts'

/**
 * Parses an address by the rules of `parseAddress`, with an optional zone. Sockets and proxies name the interface behind a link-local
 * address (`fe80::1%eth0`, RFC 4007 section 11); the zone is no part of the address. Behind any other address it is an error.
 */
export function parseZoned(text: string): Address | undefined {
  const zone = text.indexOf('%')
  if (zone < 0 || zone === text.length - 1) return parseAddress(text)
  const address = parseAddress(text.slice(0, zone))
  return address !== undefined && isLinkLocal(address) ? address : undefined
}

function isLinkLocal({ family, a }: Address): boolean {
  return family === 6 && a >>> 22 === 0x3fa
}
