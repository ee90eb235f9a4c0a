import rows from './trusted-proxies.json' with { type: 'json' }

/** A named set of proxies that can be trusted as a whole: where the operator publishes it, and as of when. */
export interface TrustedProxies {
  /** `trustProxy` refers to the set by this name. */
  readonly preset: string
  readonly source: string
  /** The day the prefixes were true, YYYY-MM-DD. Published lists change: look here before relying on an old one. */
  readonly date: string
  readonly note: string
  /** Prefixes are CIDRs with host bits zero. */
  readonly prefixes: readonly string[]
}

export const TRUSTED_PROXIES: readonly TrustedProxies[] = rows
