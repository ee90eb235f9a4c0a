import { invalidField } from '../errors.ts'
import { isCountry } from '../geo/country.ts'
import type { NetworkFinding } from '../values/finding.ts'
import type { NetworkClass, PlainAction } from '../vocabulary.ts'
import { type JurisdictionMatch, type JurisdictionPolicy, type Relation, UNKNOWN_COUNTRY } from './policy.ts'

/** Facts about a connection that claims to come from somewhere. */
export interface FoundOrigin {
  readonly network: NetworkFinding
  /** Two-letter code; absent when unknown. */
  readonly country?: string | undefined
}

/** The policy's word on a claim: the action, and the id of the rule that decided. */
export interface PolicyJudgement {
  readonly action: PlainAction
  readonly reason: string
}

/** A jurisdiction policy ready to be asked. */
export interface JurisdictionJudge {
  /** The claim in the form that is recorded: a country code or the id of a group. Throws `invalid_request`. */
  parseClaim(text: string): string
  judge(claim: string, found: FoundOrigin): PolicyJudgement
}

/** Prepares a checked policy; see `parseJurisdictionPolicy`. */
export function createJurisdictionJudge(policy: JurisdictionPolicy): JurisdictionJudge {
  const groups = new Map(policy.groups.map(({ id, countries }) => [id, new Set(countries)]))
  const rules = policy.rules.map(({ id, match, action }) => ({
    judgement: Object.freeze({ action, reason: id }),
    matches: matcherOf(match, groups),
  }))
  return {
    parseClaim(text) {
      const claim = text.toUpperCase()
      // Looked at as it came: in capitals `\u00df` would be South Sudan.
      if (/^[\w-]+$/.test(text) && (groups.has(claim) || isCountry(claim))) return claim
      throw invalidField('claimed_jurisdiction', 'not a country code')
    },
    judge(claim, { network, country = UNKNOWN_COUNTRY }) {
      const seen: Seen = {
        claim,
        country,
        relation: relationOf(claim, country, groups),
        networkClass: network.verdict.classification,
        anonymized: network.verdict.anonymized,
        reserved: network.reserved.reserved,
      }
      const rule = rules.find(({ matches }) => matches(seen))
      if (rule === undefined) throw new TypeError('a jurisdiction policy decides every case')
      return rule.judgement
    },
  }
}

interface Seen {
  readonly claim: string
  readonly country: string
  readonly relation: Relation
  readonly networkClass: NetworkClass
  readonly anonymized: boolean
  readonly reserved: boolean
}

type Groups = ReadonlyMap<string, ReadonlySet<string>>

function relationOf(claim: string, country: string, groups: Groups): Relation {
  if (country === UNKNOWN_COUNTRY) return 'unknown'
  return country === claim || groups.get(claim)?.has(country) === true ? 'match' : 'mismatch'
}

function matcherOf(match: JurisdictionMatch, groups: Groups): (seen: Seen) => boolean {
  const claims = match.claim && membersOf(match.claim, groups)
  const countries = match.country && membersOf(match.country, groups)
  return ({ claim, country, relation, networkClass, anonymized, reserved }) =>
    (claims === undefined || claims.has(claim)) &&
    (countries === undefined || countries.has(country)) &&
    (match.relation === undefined || match.relation.includes(relation)) &&
    (match.networkClass === undefined || match.networkClass.includes(networkClass)) &&
    (match.anonymized === undefined || match.anonymized === anonymized) &&
    (match.reserved === undefined || match.reserved === reserved)
}

/** The entries themselves, and the countries of those that are groups. */
function membersOf(entries: readonly string[], groups: Groups): ReadonlySet<string> {
  return new Set(entries.flatMap((entry) => [entry, ...(groups.get(entry) ?? [])]))
}
