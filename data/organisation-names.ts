import table from './organisation-names.json' with { type: 'json' }

/**
 * One rule over organisation names. A word is a whole token of the folded name (lower case, no accents), a phrase is
 * tokens in sequence, `telekom*` is the start of a token and `*hosting` its end. The first rule with a fitting word
 * and no fitting `unless` gives the type, so order and vetoes are part of the facts.
 */
export interface OrganisationRule {
  readonly type: 'hosting' | 'isp' | 'mobile' | 'vpn' | 'tor' | 'education' | 'government' | 'unknown'
  /** Why the rule is at this place in the order. */
  readonly note: string
  /** Said by so many others that the outline of the address space weighs more. */
  readonly weak: boolean
  readonly words: readonly string[]
  readonly unless: readonly string[]
}

/** The rules, first to last. The file keeps the words of a rule by language or subject, separated by commas. */
export const ORGANISATION_RULES: readonly OrganisationRule[] = (table.rules as unknown as readonly Entry[]).map(
  ({ type, note, weak = false, words, unless = {} }) => ({
    type,
    note,
    weak,
    words: phrases(words),
    unless: phrases(unless),
  }),
)

/** Year and month in which the rules were last looked at. */
export const ORGANISATION_RULES_DATE: string = (table as { readonly date: string }).date

interface Entry {
  readonly type: OrganisationRule['type']
  readonly note: string
  readonly weak?: boolean | undefined
  readonly words: Readonly<Record<string, string>>
  readonly unless?: Readonly<Record<string, string>> | undefined
}

function phrases(bySubject: Readonly<Record<string, string>>): readonly string[] {
  return Object.values(bySubject).flatMap((text) => text.split(', '))
}
