import table from './probes.json' with { type: 'json' }

/** A path that scanners try on any site. */
export interface ProbeRow {
  /** As in a policy: `*` within a segment, a last `**` for all below. The first row that fits a request counts. */
  readonly path: string
  /** The thing to be had there, or the reason to try it. */
  readonly reason: string
}

export const PROBES: readonly ProbeRow[] = table.probes
