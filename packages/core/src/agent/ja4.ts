import { INSPECTING_NETWORKS, JA4_CIPHERS, type Ja4Row } from '@sallyport/data/ja4'
import type { NetworkFinding } from '../values/finding.ts'
import type { AsType } from '../vocabulary.ts'

/** The parts of a JA4 fingerprint that are used here. */
export interface Ja4 {
  /** Absent when its ciphers are in no table: nothing may be concluded then. */
  readonly family?: Ja4Row['family'] | undefined
  /** It offered no application protocol at all, as every browser does. */
  readonly silent: boolean
}

const SHAPE = /^[tqd](1[0-3]|s[23]|d[123]|00)[di]\d{4}[0-9a-z]{2}_[0-9a-f]{12}_[0-9a-f]{12}$/
const ROWS: ReadonlyMap<string, Ja4Row> = new Map(JA4_CIPHERS.map((row) => [row.ciphers, row]))
const ENTERPRISE: ReadonlySet<AsType> = new Set<AsType>(['education', 'government', 'unknown'])
const INSPECTING: ReadonlySet<number> = new Set(INSPECTING_NETWORKS.flatMap(({ asns }) => asns))

/**
 * Reads a JA4 by its first two parts, the shape and the ciphers: the third changes with each release of a browser.
 * `undefined` for what has not the form of one.
 */
export function parseJa4(text: string): Ja4 | undefined {
  if (!SHAPE.test(text)) return undefined
  const silent = text.startsWith('00', 8)
  const row = ROWS.get(text.slice(11, 23))
  if (row === undefined) return { silent }
  // Without a protocol to be negotiated there is one fewer.
  const extensions = Number(text.slice(6, 8)) + (silent ? 1 : 0)
  return { silent, family: extensions < (row.extensions ?? 0) ? 'program' : row.family }
}

/**
 * Whether TLS may have been opened on the way, so that the JA4 is a gateway's and not the browser's: companies that
 * sell such gateways, the networks of schools and authorities, and those of no known type, which are companies' own.
 */
export function inspectsTls({ asn, asType }: NetworkFinding): boolean {
  return ENTERPRISE.has(asType) || (asn !== undefined && INSPECTING.has(asn))
}
