import policy from './jurisdictions.json' with { type: 'json' }

/** Countries that rules name together, with the source of the list and the month in which it was true. */
export interface JurisdictionGroupRow {
  readonly id: string
  readonly source: string
  readonly date: string
  readonly note: string
  /** Codes of ISO 3166-1 have two capital letters. */
  readonly countries: readonly string[]
}

/** The jurisdiction policy that is used where no other is configured; its form is checked where it is compiled. */
export const JURISDICTIONS: {
  readonly id: string
  readonly groups: readonly JurisdictionGroupRow[]
  readonly rules: readonly object[]
} = policy
