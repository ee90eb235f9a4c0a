import rows from './ai-referrers.json' with { type: 'json' }

/** Describes a service whose answers link to sites, and how a visit from it is recognised. */
export interface AiReferrerRow {
  readonly service: string
  readonly vendor: string
  /** Hosts in the Referer of a visit. */
  readonly hosts: readonly string[]
  /** Values of `utm_source` that it adds to links. */
  readonly utm: readonly string[]
  readonly source: string
  readonly date: string
}

export const AI_REFERRERS: readonly AiReferrerRow[] = rows
