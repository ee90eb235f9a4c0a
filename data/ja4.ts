import table from './ja4.json' with { type: 'json' }

/** A list of TLS ciphers, as JA4's second part names it, and the family of clients that offers it. */
export interface Ja4Row {
  /** The second part of a JA4 has 12 hexadecimal digits. */
  readonly ciphers: string
  /** `program` is a library or tool, never a browser. */
  readonly family: 'chromium' | 'firefox' | 'safari' | 'program'
  readonly name: string
  /** Fewest TLS extensions that this family offers; a client with the same ciphers and fewer is a program. */
  readonly extensions?: number | undefined
  readonly source: string
  readonly date: string
}

/** A company whose gateways open the TLS of its customers, so that their browsers show the gateway's JA4. */
export interface InspectingNetwork {
  readonly operator: string
  readonly asns: readonly number[]
}

export const JA4_CIPHERS: readonly Ja4Row[] = table.ciphers as readonly Ja4Row[]
export const INSPECTING_NETWORKS: readonly InspectingNetwork[] = table.inspecting
