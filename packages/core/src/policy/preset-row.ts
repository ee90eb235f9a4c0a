import type { Rule } from './policy.ts'

/** A row of a preset that counts, with the reason that the documents give for it. */
export interface PresetRow extends Rule {
  readonly why: string
  /** Requests a minute of a client, its /24 or /48, its system, and all of its class: a rule for each, with the key behind its id. */
  readonly perMinute?: PerMinute | undefined
}

/** The narrowest first: what one client has too much of uses up nothing of its neighbours. */
const SCOPES = ['client', 'prefix', 'asn', 'class'] as const
export type PerMinute = { readonly [Scope in (typeof SCOPES)[number]]?: number | undefined }

export function rulesOf({ why, perMinute, ...rule }: PresetRow): readonly Rule[] {
  if (perMinute === undefined) return [rule]
  return SCOPES.flatMap((key) => {
    const max = perMinute[key]
    const id = key === 'client' ? rule.id : `${rule.id}-${key}`
    return max === undefined ? [] : [{ ...rule, id, limit: { key, max, window: '1m' } }]
  })
}
