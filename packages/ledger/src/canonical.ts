import serialize from 'canonicalize'

/** The canonical text (RFC 8785) of a JSON value. Throws for what JSON cannot say: NaN, lone surrogates, cycles. */
export function canonicalText(value: unknown): string {
  const text = serialize(value)
  if (text === undefined) throw new TypeError('not a JSON value')
  return text
}
