import table from './probes.json' with { type: 'json' }

/** A path that scanners try on any site. */
export interface ProbeRow {
  /** As in a policy: `*` within a segment, a last `**` for all below. The first row that fits a request counts. */
  readonly path: string
  /** Says what scanners find there, or why they try the path. */
  readonly reason: string
}

export const PROBES: readonly ProbeRow[] = table.probes
