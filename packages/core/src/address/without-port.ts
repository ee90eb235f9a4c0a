const DIGITS = /^\d*$/

/** Returns the name or address of a Host field (RFC 9110 section 7.2), which may include a port. */
export function withoutPort(host: string): string {
  const colon = host.lastIndexOf(':')
  return colon !== -1 && DIGITS.test(host.slice(colon + 1)) ? host.slice(0, colon) : host
}
