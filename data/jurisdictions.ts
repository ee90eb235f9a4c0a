import policy from './jurisdictions.json' with { type: 'json' }

/** Countries that rules name together: whose list it is, and the month it was true. */
export interface JurisdictionGroupRow {
  readonly id: string
  readonly source: string
  readonly date: string
  readonly note: string
  /** ISO 3166-1, two capital letters. */
  readonly countries: readonly string[]
}

/** The jurisdiction policy that is used where no other is configured; its form is checked where it is compiled. */
export const JURISDICTIONS: {
  readonly id: string
  readonly groups: readonly JurisdictionGroupRow[]
  readonly rules: readonly object[]
} = policy
