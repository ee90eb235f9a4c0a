const MAX_ASN = 0xffff_ffff

/** Parses the number of an autonomous system: `AS<number>` in any case, or the bare number, 0 to 4294967295 (RFC 6793). */
export function parseAsn(text: string): number | undefined {
  const digits = /^as/i.test(text) ? text.slice(2) : text
  if (!/^\d{1,10}$/.test(digits)) return undefined
  const asn = Number(digits)
  return asn <= MAX_ASN ? asn : undefined
}
