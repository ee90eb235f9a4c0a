import { INSPECTING_NETWORKS, JA4_CIPHERS, type Ja4Row } from '@sallyport/data/ja4'
import type { NetworkFinding } from '../values/finding.ts'
import type { AsType } from '../vocabulary.ts'

/** Holds the parts of a JA4 fingerprint that verdicts use. */
export interface Ja4 {
  /** Absent when its ciphers are in no table: nothing may be concluded then. */
  readonly family?: Ja4Row['family'] | undefined
  /** The client offered no application protocol at all; every browser offers one. */
  readonly silent: boolean
}

const SHAPE = /^[tqd](1[0-3]|s[23]|d[123]|00)[di]\d{4}[0-9A-Za-z]{2}_[0-9a-f]{12}_[0-9a-f]{12}$/
const ROWS: ReadonlyMap<string, Ja4Row> = new Map(JA4_CIPHERS.map((row) => [row.ciphers, row]))
const ENTERPRISE: ReadonlySet<AsType> = new Set<AsType>(['education', 'government', 'unknown'])
const INSPECTING: ReadonlySet<number> = new Set(INSPECTING_NETWORKS.flatMap(({ asns }) => asns))

/** Reports whether a text has the form of a JA4. */
export function isJa4(text: string): boolean {
  return SHAPE.test(text)
}

/**
 * Reads a JA4 by its first two parts, the shape and the ciphers: the third changes with each release of a browser. Returns `undefined` for
 * a text that has not the form of a JA4.
 */
export function parseJa4(text: string): Ja4 | undefined {
  if (!isJa4(text)) return undefined
  const silent = text.startsWith('00', 8)
  const row = ROWS.get(text.slice(11, 23))
  if (row === undefined) return { silent }
  // A client that negotiates no protocol sends one extension fewer.
  const extensions = Number(text.slice(6, 8)) + (silent ? 1 : 0)
  return { silent, family: extensions < (row.extensions ?? 0) ? 'program' : row.family }
}

/**
 * Reports whether a gateway may have opened TLS on the way, so that the JA4 is the gateway's and not the browser's. Such networks belong to
 * companies that sell gateways, to schools and authorities, or have no known type and belong to companies.
 */
export function inspectsTls({ asn, asType }: NetworkFinding): boolean {
  return ENTERPRISE.has(asType) || (asn !== undefined && INSPECTING.has(asn))
}
