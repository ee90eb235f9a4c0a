import { nominated } from '@sallyport/node/internal'

/** Hop-by-hop fields (RFC 9110 7.6.1): they are about one connection, and go no further. */
export const HOP_FIELDS = [
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'proxy-connection',
]

const KNOWN = new Set([...HOP_FIELDS, 'close', ''])

/** The fields that a Connection field makes hop-by-hop too, in lower case. */
export function madeHopByHop(connection: string): readonly string[] {
  // Nearly always it is one word.
  return KNOWN.has(connection.toLowerCase()) ? [] : nominated(connection).filter((name) => !KNOWN.has(name))
}

/** Fields (name, value, name, value …) without those of these names, which are nearly always none. */
export function withoutNamed(fields: string[], names: readonly string[]): string[] {
  if (names.length === 0) return fields
  return fields.filter((_, i) => !names.includes((fields[i - (i % 2)] as string).toLowerCase()))
}
