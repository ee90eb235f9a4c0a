import { invalidField } from '../errors.ts'
import { isCountry } from '../geo/country.ts'
import { isRegion, listHolders } from '../region/codes.ts'
import type { Attestation } from '../values/decision.ts'
import type { NetworkFinding } from '../values/finding.ts'
import type { InspectedRegion } from '../values/region.ts'
import type { NetworkClass } from '../vocabulary.ts'
import { type JurisdictionMatch, type JurisdictionPolicy, type Relation, UNKNOWN_COUNTRY } from './policy.ts'

export interface FoundOrigin {
  readonly network: NetworkFinding
  /** A two-letter code names the country; absent when unknown. */
  readonly country?: string | undefined
  /** For a claim that names a region: the region found and those that hold it, or an empty list where it is not known. */
  readonly regions?: readonly string[] | undefined
}

/** Prepares a checked policy; see `parseJurisdictionPolicy`. */
export function createJurisdictionJudge(policy: JurisdictionPolicy) {
  const groups = new Map(policy.groups.map(({ id, countries }) => [id, new Set(countries)]))
  const rules = policy.rules.map(({ id, match, action }) => ({
    judgement: Object.freeze({ action, reason: id }),
    matches: createMatcher(match, groups),
  }))
  return {
    /** Returns the claim as records write it: the code of a country or a region, or the id of a group. Throws `invalid_request`. */
    parseClaim(text: string): string {
      const claim = text.toUpperCase()
      // The test reads the text as it came: in capitals `\u00df` would be South Sudan.
      if (/^[\w-]+$/.test(text) && (groups.has(claim) || isCountry(claim) || isRegion(claim))) return claim
      throw invalidField('claimed_jurisdiction', 'not the code of a country or a region')
    },
    namesRegion: (claim: string) => !groups.has(claim) && isRegion(claim),
    judge(
      claim: string,
      { network, country = UNKNOWN_COUNTRY, regions }: FoundOrigin,
    ): Pick<Attestation, 'action' | 'reason'> {
      const seen: Seen = {
        claims: regions === undefined ? [claim] : [claim, claim.slice(0, 2)],
        country,
        relation: regions === undefined ? compareClaim(claim, country, groups) : relateRegion(claim, country, regions),
        networkClass: network.verdict.classification,
        anonymized: network.verdict.anonymized,
        reserved: network.reserved.reserved,
      }
      // The last rule of a checked policy matches every case.
      return (rules.find(({ matches }) => matches(seen)) as (typeof rules)[number]).judgement
    },
  }
}

interface Seen {
  /** A claim that names a region names its country too. */
  readonly claims: readonly string[]
  readonly country: string
  readonly relation: Relation
  readonly networkClass: NetworkClass
  readonly anonymized: boolean
  readonly reserved: boolean
}

type Groups = ReadonlyMap<string, ReadonlySet<string>>

function compareClaim(claim: string, country: string, groups: Groups): Relation {
  if (country === UNKNOWN_COUNTRY) return 'unknown'
  return country === claim || groups.get(claim)?.has(country) === true ? 'match' : 'mismatch'
}

/** A client in another country is in another region; in the same country an unknown region stays unknown. */
function relateRegion(claim: string, country: string, regions: readonly string[]): Relation {
  if (regions.includes(claim)) return 'match'
  const isElsewhere = regions.length > 0 || (country !== UNKNOWN_COUNTRY && country !== claim.slice(0, 2))
  return isElsewhere ? 'mismatch' : 'unknown'
}

/** Lists the regions of a record for a region claim: those that hold the place, or none where it is not exact enough. */
export function listFoundRegions(claim: string, found: InspectedRegion | undefined): readonly string[] {
  if (found?.code === undefined) return []
  const regions = listHolders(found.code)
  return !regions.includes(claim) && listHolders(claim).includes(found.code) ? [] : regions
}

function createMatcher(match: JurisdictionMatch, groups: Groups): (seen: Seen) => boolean {
  const named = match.claim && expandMembers(match.claim, groups)
  const countries = match.country && expandMembers(match.country, groups)
  return ({ claims, country, relation, networkClass, anonymized, reserved }) =>
    (named === undefined || claims.some((claim) => named.has(claim))) &&
    (countries === undefined || countries.has(country)) &&
    (match.relation === undefined || match.relation.includes(relation)) &&
    (match.networkClass === undefined || match.networkClass.includes(networkClass)) &&
    (match.anonymized === undefined || match.anonymized === anonymized) &&
    (match.reserved === undefined || match.reserved === reserved)
}

/** Lists the entries, and the countries of entries that are groups. */
function expandMembers(entries: readonly string[], groups: Groups): ReadonlySet<string> {
  return new Set(entries.flatMap((entry) => [entry, ...(groups.get(entry) ?? [])]))
}
