import type { Rule, RuleLimit } from '../policy.ts'

/** A preset has rows that count, with the reason that the documents give for each. */
export interface PresetRow extends Rule {
  readonly why: string
  /** Limits pages a minute, as `perMinute` limits requests; beside them come `WIDER` times as many requests of any kind. */
  readonly pages?: PerMinute | undefined
  /** Limits requests a minute of a client, its prefix, its system and its class: a rule for each, with the key behind its id. */
  readonly perMinute?: PerMinute | undefined
}

/** Makes a row by its id and its reason. */
export function makeRow(id: string, why: string, rule: Omit<PresetRow, 'id' | 'why'>): PresetRow {
  return { id, ...rule, why }
}

/** The narrowest comes first: a client's excess uses up nothing of its neighbours. */
const SCOPES = ['client', 'prefix', 'asn', 'class'] as const
export type PerMinute = { readonly [Scope in (typeof SCOPES)[number]]?: number | undefined }

/** Counts the requests of any kind for each page that fits: a page has some seventy parts (HTTP Archive), which caches mostly keep. */
export const WIDER = 50

export function expandRow({ why, pages, perMinute = widerThan(pages), then, ...rule }: PresetRow): readonly Rule[] {
  const { id, limit } = rule
  const byPages = listLimits(pages).map((one) => ({ ...one, count: 'page' as const }))
  const own = limit === undefined ? [] : [limit]
  const wider = limit?.count === 'page' ? [widerLimit(limit)] : []
  const limits = [...byPages, ...listLimits(perMinute), ...own, ...wider]
  const hasPages = limits.some(({ count }) => count === 'page')
  if (limits.length === 0) return [{ ...rule, ...(then && { then }) }]
  return limits.map((limit, at) => {
    const kind = limit.count === 'page' || !hasPages ? [] : ['requests']
    const scope = SCOPES.slice(1).filter((key) => key === limit.key)
    if (then === undefined) return { ...rule, id: [id, ...kind, ...scope].join('-'), limit }
    // The last limit opens, under the name of the row: before it, a wider scope may be exceeded.
    if (at === limits.length - 1) return { ...rule, limit, then }
    return { ...rule, id: [id, ...(limit.count === 'page' ? ['pages'] : []), limit.key].join('-'), limit }
  })
}

function listLimits(given: PerMinute = {}): readonly RuleLimit[] {
  return SCOPES.flatMap((key) => {
    const max = given[key]
    return max === undefined ? [] : [{ key, max, window: '1m' }]
  })
}

function widerThan(pages: PerMinute | undefined): PerMinute | undefined {
  return pages && Object.fromEntries(listLimits(pages).map(({ key, max }) => [key as string, max * WIDER]))
}

function widerLimit({ count, ...limit }: RuleLimit): RuleLimit {
  return { ...limit, max: limit.max * WIDER }
}
